// Package restrict makes the part of a table that a caller may know a table of its own. Columns
// that are hidden and rows that a filter does not keep do not exist in it: its schema, row numbers,
// counts, boxes and sizes are those of what is left. Masked columns have the values of a mask.
//
// Filters and masks are SQL expressions, which an [Evaluator] computes. Which rows a filter keeps
// is found once for a version of a table, and cached. Rows are copied when they are read.
package restrict
