package report

//go:generate go run ./schema
