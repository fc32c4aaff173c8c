package main

import "github.com/urfave/cli/v2"

func (p *program) demoVerb() *cli.Command { return &cli.Command{Name: "demo"} }
