package tui

import (
	"context"

	tea "charm.land/bubbletea/v2"

	"github.com/rdmadoctor/rdmadoctor/internal/report"
)

var keyCodes = map[string]rune{"enter": tea.KeyEnter, "esc": tea.KeyEscape, "tab": tea.KeyTab, "up": tea.KeyUp, "down": tea.KeyDown,
	"left": tea.KeyLeft, "right": tea.KeyRight, "pgup": tea.KeyPgUp, "pgdown": tea.KeyPgDown, "home": tea.KeyHome, "end": tea.KeyEnd,
	"backspace": tea.KeyBackspace}

// stroke is the message that a terminal sends for a key.
func stroke(k string) tea.KeyPressMsg {
	if k == "space" {
		return tea.KeyPressMsg{Code: tea.KeySpace, Text: " "}
	}
	if code, ok := keyCodes[k]; ok {
		return tea.KeyPressMsg{Code: code}
	}
	if len(k) == 6 && k[:5] == "ctrl+" {
		return tea.KeyPressMsg{Code: rune(k[5]), Mod: tea.ModCtrl}
	}
	r := []rune(k)[0]
	return tea.KeyPressMsg{Code: r, Text: k}
}

// press gives keys to the model, one after another, and returns the last Cmd.
func press(m *Model, keys ...string) tea.Cmd {
	var cmd tea.Cmd
	for _, k := range keys {
		_, cmd = m.Update(stroke(k))
	}
	return cmd
}

// everything are options in which every key has something to do.
func everything() Options {
	return Options{
		Again: func(context.Context) error { return nil },
		Write: func(context.Context, []report.Message) (string, error) { return "gpu-017.json", nil },
		Copy:  func(string) tea.Cmd { return nil },
	}
}
