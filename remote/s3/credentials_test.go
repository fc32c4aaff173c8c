package s3

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bough-dev/bough/workspace/fault"
)

const awsFile = `[default]
aws_access_key_id = of-default
aws_secret_access_key = secret-default

[work]
aws_access_key_id = of-work
aws_secret_access_key = secret-work

[half]
aws_access_key_id = of-half
`

const awsConfig = `[default]
region = eu-west-1

[profile work]
region = eu-west-2

[profile role]
role_arn = arn:aws:iam::123456789012:role/x
source_profile = default

[profile region-only]
region = eu-west-3
`

// TestCredentials: where credentials and the region are from, and the errors without them.
func TestCredentials(t *testing.T) {
	pair := func(id string) []string { return []string{"AWS_ACCESS_KEY_ID=" + id, "AWS_SECRET_ACCESS_KEY=secret"} }
	for _, c := range []struct {
		name           string
		env            []string
		files, config  string
		id, region     string // "" for an error
		source, failed string
	}{
		{name: "environment", env: pair("of-env"), id: "of-env", region: "us-east-1", source: "AWS_ACCESS_KEY_ID"},
		{name: "environment over profile", env: append(pair("of-env"), "AWS_PROFILE=work"), files: awsFile, config: awsConfig, id: "of-env", region: "eu-west-2", source: "AWS_ACCESS_KEY_ID"},
		{name: "region", env: append(pair("of-env"), "AWS_REGION=a", "AWS_DEFAULT_REGION=b"), config: awsConfig, id: "of-env", region: "a", source: "AWS_ACCESS_KEY_ID"},
		{name: "default region", env: append(pair("of-env"), "AWS_DEFAULT_REGION=b"), config: awsConfig, id: "of-env", region: "b", source: "AWS_ACCESS_KEY_ID"},
		{name: "profile", files: awsFile, config: awsConfig, id: "of-default", region: "eu-west-1", source: "the profile default"},
		{name: "other profile", env: []string{"AWS_PROFILE=work"}, files: awsFile, config: awsConfig, id: "of-work", region: "eu-west-2", source: "the profile work"},
		{name: "profile without config", env: []string{"AWS_PROFILE=work"}, files: awsFile, id: "of-work", region: "us-east-1", source: "the profile work"},
		{name: "nothing", failed: "no credentials"},
		{name: "half of the environment", env: []string{"AWS_ACCESS_KEY_ID=x"}, failed: "only one of"},
		{name: "half of a profile", env: []string{"AWS_PROFILE=half"}, files: awsFile, failed: `profile "half" cannot be used`},
		{name: "no such profile", env: []string{"AWS_PROFILE=none"}, files: awsFile, failed: `profile "none" does not exist`},
		{name: "no files", env: []string{"AWS_PROFILE=none"}, failed: `profile "none" does not exist`},
		{name: "no default profile", files: "[other]\nregion = x\n", failed: "no credentials"},
		{name: "role", env: []string{"AWS_PROFILE=role"}, files: awsFile, config: awsConfig, failed: "assumes a role"},
		{name: "profile without credentials", env: []string{"AWS_PROFILE=region-only"}, config: awsConfig, failed: "has no credentials"},
		{name: "malformed", files: "[default]\naws_access_key_id = x\nsecret-on-a-line-of-its-own\n", failed: "malformed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			home := clearEnvironment(t)
			for name, content := range map[string]string{"credentials": c.files, "config": c.config} {
				if content == "" {
					continue
				}
				if err := os.MkdirAll(filepath.Join(home, ".aws"), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join(home, ".aws", name), []byte(content), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			for _, setting := range c.env {
				name, value, _ := strings.Cut(setting, "=")
				t.Setenv(name, value)
			}
			s, err := Open(t.Context(), "s3://chats/a", Options{})
			if c.failed != "" {
				e, ok := errors.AsType[*fault.Error](err)
				if !ok || !strings.Contains(e.Message, c.failed) || strings.Contains(e.Message+e.Hint, "secret-") {
					t.Errorf("Open = %v; want %q", err, c.failed)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			value, err := s.creds.GetWithContext(nil)
			if err != nil || value.AccessKeyID != c.id || s.Region() != c.region || s.source != c.source {
				t.Errorf("the key is %q of %s, the region %s, %v; want %q of %s, %s", value.AccessKeyID, s.source, s.Region(), err, c.id, c.source, c.region)
			}
		})
	}
}
