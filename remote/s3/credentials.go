package s3

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/minio/minio-go/v7/pkg/credentials"
	"gopkg.in/ini.v1"

	"github.com/bough-dev/bough/workspace/fault"
)

const whereCredentials = "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or write them to ~/.aws/credentials"

// metadataTimeout limits a request for credentials to the services of a machine at AWS.
const metadataTimeout = 5 * time.Second

// findCredentials returns the credentials of the environment, of a profile in the files of AWS, or,
// on a machine at AWS, of its role; and says where they are from. It asks no service.
func findCredentials(ctx context.Context) (c *credentials.Credentials, source string, err error) {
	id, secret := os.Getenv("AWS_ACCESS_KEY_ID") != "", os.Getenv("AWS_SECRET_ACCESS_KEY") != ""
	switch {
	case id && secret:
		return credentials.NewEnvAWS(), "AWS_ACCESS_KEY_ID", nil
	case id || secret:
		return nil, "", &fault.Error{Code: fault.Usage, Message: "only one of AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY is set", Hint: "set both or none"}
	}
	role := credentials.New(&credentials.IAM{Client: &http.Client{Timeout: metadataTimeout, Transport: &http.Transport{}}})
	if os.Getenv("AWS_WEB_IDENTITY_TOKEN_FILE") != "" {
		return role, "AWS_WEB_IDENTITY_TOKEN_FILE", nil
	}
	if c, err := fromProfile(ctx); c != nil || err != nil {
		return c, "the profile " + profileName(), err
	}
	if os.Getenv("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI") != "" || os.Getenv("AWS_CONTAINER_CREDENTIALS_FULL_URI") != "" {
		return role, "the role of the container", nil
	}
	if onEC2() {
		return role, "the role of the machine", nil
	}
	return nil, "", &fault.Error{Code: fault.Refused, Message: "no credentials for the store", Hint: whereCredentials}
}

// onEC2 reports whether this machine is one of AWS, by what its firmware says: on another machine,
// a request for the role would wait for a service that does not answer.
func onEC2() bool {
	if strings.EqualFold(os.Getenv("AWS_EC2_METADATA_DISABLED"), "true") {
		return false
	}
	vendor, err := os.ReadFile("/sys/class/dmi/id/sys_vendor")
	return err == nil && strings.TrimSpace(string(vendor)) == "Amazon EC2"
}

func profileName() string {
	if name := os.Getenv("AWS_PROFILE"); name != "" {
		return name
	}
	return "default"
}

// fromProfile returns the credentials of the profile. If there is no profile, or it has none, it
// returns nil, unless AWS_PROFILE names it.
func fromProfile(ctx context.Context) (*credentials.Credentials, error) {
	missing := func(why string) error {
		if os.Getenv("AWS_PROFILE") == "" {
			return nil
		}
		return &fault.Error{Code: fault.Refused, Message: fmt.Sprintf("the AWS profile %q %s", profileName(), why), Hint: "correct AWS_PROFILE, or " + whereCredentials}
	}
	if profileValue("role_arn") != "" {
		return nil, &fault.Error{
			Code: fault.Refused, Message: fmt.Sprintf("the AWS profile %q assumes a role, which is not supported", profileName()),
			Hint: "'aws configure export-credentials' prints credentials for the environment",
		}
	}
	c := credentials.New(&credentials.FileAWSCredentials{})
	value, err := c.GetWithContext(&credentials.CredContext{Client: &http.Client{Timeout: time.Minute}, Context: ctx})
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, missing("does not exist")
	case err != nil && len(profileSections()) == 0 && !ini.IsErrDelimiterNotFound(err):
		return nil, missing("does not exist")
	case ini.IsErrDelimiterNotFound(err): // its text has a line of the file
		return nil, &fault.Error{Code: fault.Refused, Message: "the files of AWS credentials are malformed", Hint: "check ~/.aws/credentials and ~/.aws/config", Err: fault.Damaged}
	case err != nil:
		return nil, &fault.Error{Code: fault.Refused, Message: fmt.Sprintf("the AWS profile %q cannot be used: %v", profileName(), err), Err: err}
	case value.AccessKeyID == "" || value.SecretAccessKey == "":
		return nil, missing("has no credentials")
	}
	return c, nil
}

// profileSections returns the sections of the profile: that of the credentials goes first.
func profileSections() (list []*ini.Section) {
	for _, file := range []struct{ variable, name, prefix string }{
		{"AWS_SHARED_CREDENTIALS_FILE", "credentials", ""},
		{"AWS_CONFIG_FILE", "config", "profile "},
	} {
		path := os.Getenv(file.variable)
		if path == "" {
			home, err := os.UserHomeDir()
			if err != nil {
				continue
			}
			path = filepath.Join(home, ".aws", file.name)
		}
		content, err := ini.Load(path)
		if err != nil {
			continue
		}
		names := []string{file.prefix + profileName()}
		if profileName() == "default" {
			names = append(names, "default")
		}
		for _, name := range names {
			if section, err := content.GetSection(name); err == nil {
				list = append(list, section)
				break
			}
		}
	}
	return list
}

// profileValue returns a setting of the profile, "" if it is not set.
func profileValue(key string) string {
	for _, section := range profileSections() {
		if section.HasKey(key) {
			return section.Key(key).String()
		}
	}
	return ""
}

// findRegion returns the region that the environment or the profile has, "" if neither has one.
func findRegion() string {
	for _, name := range []string{"AWS_REGION", "AWS_DEFAULT_REGION"} {
		if region := os.Getenv(name); region != "" {
			return region
		}
	}
	return profileValue("region")
}
