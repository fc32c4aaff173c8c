package ignore

import "sort"

// A secretName is a name that files with secrets have. All letters are small.
type secretName struct {
	name string
	why  string
}

// Kinds of secrets, as [Secret] returns them.
const (
	variables = "environment variables"
	login     = "passwords for servers"
	registry  = "credentials of a package registry"
	cloud     = "credentials of a cloud"
	key       = "private key"
	keys      = "key store"
	database  = "passwords for databases"
	passwords = "password database"
)

// secretNames are names of files, sorted.
var secretNames = []secretName{
	{".boto", cloud},
	{".dockercfg", registry},
	{".git-credentials", login},
	{".htpasswd", login},
	{".my.cnf", database},
	{".mylogin.cnf", database},
	{".netrc", login},
	{".npmrc", registry},
	{".pgpass", database},
	{".pypirc", registry},
	{".s3cfg", cloud},
	{".terraformrc", cloud},
	{".vault-token", cloud},
	{"_netrc", login},
	{"accesstokens.json", cloud},
	{"application_default_credentials.json", cloud},
	{"credentials.json", cloud},
	{"credentials.tfrc.json", cloud},
	{"id_dsa", key},
	{"id_ecdsa", key},
	{"id_ecdsa_sk", key},
	{"id_ed25519", key},
	{"id_ed25519_sk", key},
	{"id_rsa", key},
	{"rclone.conf", cloud},
	{"secring.gpg", key},
	{"service-account.json", cloud},
	{"service_account.json", cloud},
	{"serviceaccountkey.json", cloud},
	{"terraform.rc", cloud},
}

// secretEndings are the last parts of names, with their dots.
var secretEndings = []secretName{
	{".jks", keys},
	{".kdbx", passwords},
	{".key", key},
	{".keystore", keys},
	{".p12", keys},
	{".p8", key},
	{".pem", key},
	{".pfx", keys},
	{".pkcs12", keys},
	{".ppk", key},
}

// secretPlaces are names in a directory, sorted.
var secretPlaces = []secretName{
	{".aws/credentials", cloud},
	{".azure/msal_token_cache.json", cloud},
	{".cargo/credentials", registry},
	{".cargo/credentials.toml", registry},
	{".docker/config.json", registry},
	{".gem/credentials", registry},
	{".kube/config", cloud},
	{"gcloud/access_tokens.db", cloud},
	{"gcloud/credentials.db", cloud},
	{"gh/hosts.yml", login},
	{"glab-cli/config.yml", login},
}

// notSecret are the last parts of names that begin with .env and are examples.
var notSecret = []string{".dist", ".example", ".sample", ".template"}

// Secret returns what a file has that must not be stored unless the user asks for it, judging
// by its name and by that of its directory, which may be empty. The case of letters has no
// effect. It returns "" for other files.
func Secret(dir, name string) (why string) {
	if len(name) > 64 { // only its beginning and its end can decide
		name = name[:8] + name[len(name)-12:]
	}
	if len(dir) > 32 {
		dir = ""
	}
	var array [128]byte
	path := append(array[:0], dir...)
	path = append(path, '/')
	path = append(path, name...)
	for i, b := range path {
		if 'A' <= b && b <= 'Z' {
			path[i] = b + 'a' - 'A'
		}
	}
	lower := path[len(dir)+1:]
	if why := find(secretNames, lower); why != "" {
		return why
	}
	if why := find(secretPlaces, path); why != "" {
		return why
	}
	for _, e := range secretEndings {
		if hasEnding(lower, e.name) {
			return e.why
		}
	}
	if len(lower) < 4 || string(lower[:4]) != ".env" {
		return ""
	}
	for _, end := range notSecret {
		if hasEnding(lower, end) {
			return ""
		}
	}
	return variables
}

func hasEnding(name []byte, end string) bool {
	return len(name) >= len(end) && string(name[len(name)-len(end):]) == end
}

// find returns what a sorted list says about a name.
func find(list []secretName, name []byte) (why string) {
	i := sort.Search(len(list), func(i int) bool { return list[i].name >= string(name) })
	if i == len(list) || list[i].name != string(name) {
		return ""
	}
	return list[i].why
}
