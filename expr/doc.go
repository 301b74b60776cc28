// Package expr is the expression language of pipelines: a syntax tree (node.go), a checker that gives every node a type
// (Check), and programs that evaluate an expression over all rows of a bundle at once (Expr.Bind, Program.Eval).
//
// An expression never fails as a whole at run time: a row on which it cannot be evaluated gets a value of kind Error,
// whose code and text ErrorText reads. Such texts name fields, kinds and functions, never a record's data.
//
// The package knows no HCL, reads no clock and does no I/O; arrival() is what the caller says (Env).
package expr
