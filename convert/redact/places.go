package redact

// betweenLines matches what separates the lines of a key: quotes, commas, signs
// of a diff or a quotation, and the name of a file with a line number.
const betweenLines = `[^A-Za-z0-9/]{1,24}(?:(?:[\w./-]{1,80}[:-])?\d{1,6}[^A-Za-z0-9/]{1,12})?`

// placeRules returns the rules for secrets that are recognized by their context only: a
// configuration file, a command, a sentence.
func placeRules() []*rule {
	const key = `[ A-Z0-9_-]{0,100}PRIVATE KEY(?: BLOCK)?-----`
	const value = `(?:"([^"\s$][^"\n]{2,200})"|'([^'\n]{3,200})'|([^\s"'` + "`" + `$<>|;&]{3,200}))`
	const blank = `[\s+>|]{1,20}` // also for lines of a diff or a quotation
	return []*rule{{
		// a key with only its first or last lines
		ID: "private-key-part",
		Regexp: `-----BEGIN` + key + `((?:` + betweenLines + `[A-Za-z0-9+/=]{32,})+(?:` + betweenLines + `[A-Za-z0-9+/]{1,62}=)?)` +
			`|((?:[A-Za-z0-9+/=]{48,}` + betweenLines + `)+(?:[A-Za-z0-9+/=]{1,76}` + betweenLines + `)?)-----END` + key,
		Entropy:  4,
		near:     1 << 14,
		Keywords: []string{"private key-----", "key block-----"},
	}, {
		// "auth": "dXNlcjpwYXNzd29yZA==" of docker, _auth= of npm
		ID:       "docker-auth",
		Regexp:   `\b_?auth[ "']{0,4}[:=][ \t"']{0,8}([A-Za-z0-9+/]{8,400}={0,2})(?:[^A-Za-z0-9+/=]|$)`,
		Keywords: []string{`"auth`, `'auth`, "_auth", "auth:"},
		check:    isLogin,
	}, {
		ID:     "discord-bot-token",
		Regexp: `(?:^|[^A-Za-z0-9_.-])([A-Za-z0-9]{23,28}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,45})(?:[^A-Za-z0-9_.-]|\.?$|\.\s)`,
		byDots: true,
		check:  isBotToken,
	}, {
		ID:       "telegram-bot-token",
		Regexp:   `(?:^|[^A-Za-z0-9_]|bot)([0-9]{8,10}:A[A-Za-z0-9_-]{34})(?:[^A-Za-z0-9_-]|$)`,
		Entropy:  3.5,
		Keywords: []string{":aa", "api.telegram.org"},
	}, {
		// ?sv=...&se=...&sig=SIGNATURE
		ID:       "azure-sas",
		Regexp:   `(?:[?&;\s"']|26)sig=([A-Za-z0-9%+/_-]{20,120}={0,2})`,
		Entropy:  3.5,
		Keywords: []string{"sig="},
		check:    isSharedAccess,
	}, {
		// SECRET_KEY = 'django-insecure-^@...'
		ID:       "secret-key",
		Regexp:   `(?i)\bSECRET_KEY[ "']{0,4}(?::|:?=)[ \t]{0,8}(?:"([^"\s]{16,200})[ ]{0,8}"|'([^'\s]{16,200})[ ]{0,8}'|([^\s"'` + "`" + `]{16,200}))`,
		Keywords: []string{"secret_key"},
		check:    isDrawn,
	}, {
		// machine HOST login USER password PASSWORD, of .netrc
		ID:       "netrc-password",
		Regexp:   `(?:\bmachine` + blank + `\S{1,100}|\bdefault)(?:` + blank + `(?:login|account)` + blank + `\S{1,100}){1,2}` + blank + `password` + blank + `([^\s"'` + "`" + `]{1,200})`,
		Keywords: []string{"login"},
		check:    isLoginPassword,
	}, {
		// HOST:PORT:DATABASE:USER:PASSWORD, of .pgpass
		ID:       "pgpass-password",
		Regexp:   `(?:^|[\s"'+>` + "`" + `])(?:[A-Za-z0-9_.*/-]{1,100}|\[[0-9a-f:]{2,40}\]):(?:[1-9]\d{3,4}|\*):[\w.*-]{1,63}:[A-Za-z_*][\w.@*-]{0,62}:([^\s:"'` + "`" + `,;\x00]{3,200})(?:[\s"'` + "`" + `]|$)`, // not what is gone already: it shares the line break with the next one
		Keywords: []string{":543", ":643", ":*:"},
		check:    isOption,
	}, {
		// mysql -pPASSWORD, sshpass -p PASSWORD, redis-cli -a PASSWORD
		ID: "command-password",
		Regexp: `(?:^|[^\w./]|bin/)(?:(?:mysql|mysqldump|mysqladmin|mysqlimport|mariadb|mariadb-dump)(?:[ \t][^\n|;&#]{0,200}?)?[ \t]-p|sshpass[ \t]{1,4}-p[ \t]{0,4}|redis-cli(?:[ \t][^\n|;&#]{0,200}?)?[ \t]-a[ \t]{1,4}|docker[ \t]login(?:[ \t][^\n|;&#]{0,200}?)?[ \t]-p[ \t]{1,4})` +
			value,
		Keywords: []string{"mysql", "mariadb", "sshpass", "redis-cli", "docker login"},
		check:    isOption,
	}, {
		// --password PASSWORD, --api-key KEY
		ID:       "option-secret",
		Regexp:   `(?:^|[\s"'+>])--?(?:[a-z]{1,20}-){0,2}(?:password|passphrase|passwd|secret|token|api-?key)(?:[ \t"']{1,6}|=)["']?([^\s"'` + "`" + `,-][^\s"'` + "`" + `,]{5,200})`,
		Entropy:  2.5,
		Keywords: []string{"-passw", "-passp", "-secret", "-token", "-api"},
		byName:   true,
		check:    isSecretOption,
	}, {
		// the password is PASSWORD
		ID: "told-password",
		Regexp: `(?i)\b(?:password|passphrase|passwd|passcode|passwort|pwd|pin)(?: (?:for|to|of|on|at) [^\n.:;!?]{1,40}?)?[ \t]{1,4}(?:is|was|ist|lautet|has been set to|is set to|will be|should be)[ \t]{0,4}(?:now |still |currently |just |simply )?(?:set to |changed to )?:?[ \t]{0,4}` +
			`(?:"([^"\s]{4,100})[ ]{0,8}"|'([^'\s]{4,100})[ ]{0,8}'|` + "`([^`\\s]{4,100})[ ]{0,8}`" + `|([^\s"'` + "`" + `,;:<>(){}\[\]]{4,100}))`,
		Keywords: []string{"password", "passphrase", "passwd", "passcode", "passwort", "pwd", "pin is", "pin for", "pin was"},
		check:    isTold,
		sentence: true,
	}}
}
