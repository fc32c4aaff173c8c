package convert

var (
	penguinFormat       = named("penguin")
	piFormat            = named("pi")
	claudeCodeFormat    = named("claude-code")
	codexFormat         = named("codex")
	geminiFormat        = named("gemini")
	opencodeFormat      = named("opencode")
	chatGPTFormat       = named("chatgpt")
	claudeAIFormat      = named("claude-ai")
	openAssistantFormat = named("oasst")
	anthropicAPIFormat  = named("anthropic")
	openAIFormat        = named("openai")
	markdownFormat      = named("markdown")
	openWebUIFormat     = named("open-webui")
	copilotFormat       = named("copilot-cli")
	copilotChatFormat   = named("copilot-chat")
	cursorFormat        = named("cursor")
	clineFormat         = named("cline")
	libreChatFormat     = named("librechat")
	messagesFormat      = named("messages")
	shareGPTFormat      = named("sharegpt")
	aiSDKFormat         = named("ai-sdk")
	qwenFormat          = named("qwen-code")
	sillyTavernFormat   = named("sillytavern")
	aiderFormat         = named("aider")
	ampFormat           = named("amp")
	antigravityFormat   = named("antigravity")
	atifFormat          = named("atif")
	otelFormat          = named("otel")
	llmFormat           = named("llm")
	zedFormat           = named("zed")
	gooseFormat         = named("goose")
)

// named returns a format of the table.
func named(name string) *Format {
	f, err := Named(name)
	if err != nil {
		panic(err)
	}
	return f
}
