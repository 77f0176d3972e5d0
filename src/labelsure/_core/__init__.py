"""What every room may use and which uses none of them: energies, calibrations, checks, progress, optional imports."""
