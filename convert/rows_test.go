package convert

var (
	piFormat            = Formats[1]
	claudeCodeFormat    = Formats[2]
	codexFormat         = Formats[3]
	geminiFormat        = Formats[4]
	opencodeFormat      = Formats[5]
	chatGPTFormat       = Formats[6]
	claudeAIFormat      = Formats[7]
	openAssistantFormat = Formats[8]
	anthropicAPIFormat  = Formats[9]
	openAIFormat        = Formats[10]
	markdownFormat      = Formats[11]
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

// named returns a format of the table, whose place may change.
func named(name string) *Format {
	f, err := Named(name)
	if err != nil {
		panic(err)
	}
	return f
}
