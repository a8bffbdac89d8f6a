package main

import (
	"bytes"
	"testing"

	"github.com/rdmadoctor/rdmadoctor/knowledge"
)

func TestIndexIsCurrent(t *testing.T) {
	if err := doMain(false); err != nil {
		t.Fatal(err)
	}
}

func TestIndexListsEveryPage(t *testing.T) {
	text := generate()
	n := 0
	for _, p := range knowledge.Pages() {
		n++
		if bytes.Count(text, []byte("pitfalls/"+p.Code+".md")) != 1 {
			t.Errorf("%s is not listed once", p.Code)
		}
	}
	if n == 0 {
		t.Fatal("no page")
	}
}
