"""One module (cases, reference, wrong rules) and one text file for each exercise."""
