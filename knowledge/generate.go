package knowledge

//go:generate go run ./index
