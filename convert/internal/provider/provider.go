// Package provider derives the provider of a model from the model's name.
package provider

import "strings"

// Of returns the provider of a model, derived from its name, "" if unknown.
func Of(model string) string {
	for _, of := range []struct{ name, provider string }{
		{"claude", "anthropic"}, {"gemini", "google"}, {"gpt", "openai"}, {"o1", "openai"}, {"o3", "openai"}, {"o4", "openai"},
	} {
		if strings.HasPrefix(model, of.name) {
			return of.provider
		}
	}
	return ""
}
