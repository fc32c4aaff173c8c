package convert

var (
	penguin       = Formats[0]
	pi            = Formats[1]
	claudeCode    = Formats[2]
	codex         = Formats[3]
	gemini        = Formats[4]
	opencode      = Formats[5]
	chatGPT       = Formats[6]
	claudeAI      = Formats[7]
	openAssistant = Formats[8]
	anthropicAPI  = Formats[9]
	openAI        = Formats[10]
	markdown      = Formats[11]
)
