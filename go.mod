module github.com/rdmadoctor/rdmadoctor

go 1.26.8
