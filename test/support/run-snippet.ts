import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export type Case = { body: string; header: string; secret: string }

/** Each program reads one case as JSON per input line, and prints true or false for each. */
const RUNNERS: Record<
  string,
  { program: string; versionFlag: string; prepare(folder: string, snippet: string): string[] }
> = {
  Node: {
    program: process.execPath,
    versionFlag: '--version',
    prepare: (folder, snippet) => {
      const main = join(folder, 'main.mjs')
      writeFileSync(
        main,
        `import { createInterface } from 'node:readline'
import { verifyWebhook } from ${JSON.stringify(snippet)}
for await (const line of createInterface(process.stdin)) {
  const { body, header, secret } = JSON.parse(line)
  console.log(verifyWebhook(body, header, secret))
}`,
      )
      return [main]
    },
  },
  Python: {
    program: 'python3',
    versionFlag: '--version',
    prepare: (folder, snippet) => {
      cpSync(snippet, join(folder, 'snippet.py'))
      const main = join(folder, 'main.py')
      writeFileSync(
        main,
        `import json, sys
from snippet import verify_webhook
for line in sys.stdin:
    case = json.loads(line)
    print(str(verify_webhook(case["body"].encode(), case["header"], case["secret"])).lower())
`,
      )
      return [main]
    },
  },
  Go: {
    program: 'go',
    versionFlag: 'version',
    prepare: (folder, snippet) => {
      mkdirSync(join(folder, 'webhook'))
      cpSync(snippet, join(folder, 'webhook', 'webhook.go'))
      writeFileSync(join(folder, 'go.mod'), 'module example.com/receiver\n\ngo 1.20\n')
      writeFileSync(
        join(folder, 'main.go'),
        `package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"

	"example.com/receiver/webhook"
)

func main() {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var c struct{ Body, Header, Secret string }
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			panic(err)
		}
		fmt.Println(webhook.VerifyWebhook([]byte(c.Body), c.Header, c.Secret))
	}
}
`,
      )
      return ['run', '.']
    },
  },
  PHP: {
    program: 'php',
    versionFlag: '--version',
    prepare: (folder, snippet) => {
      const main = join(folder, 'main.php')
      writeFileSync(
        main,
        `<?php
require ${JSON.stringify(snippet)};
while (($line = fgets(STDIN)) !== false) {
    $case = json_decode($line, true);
    echo verify_webhook($case['body'], $case['header'], $case['secret']) ? "true\\n" : "false\\n";
}
`,
      )
      return [main]
    },
  },
  Ruby: {
    program: 'ruby',
    versionFlag: '--version',
    prepare: (folder, snippet) => {
      const main = join(folder, 'main.rb')
      writeFileSync(
        main,
        `require "json"
require ${JSON.stringify(snippet)}
STDIN.each_line do |line|
  c = JSON.parse(line)
  puts verify_webhook(c["body"], c["header"], c["secret"])
end
`,
      )
      return [main]
    },
  },
}

/** Whether the language's program is installed. */
export function canRun(language: string): boolean {
  const { program, versionFlag } = RUNNERS[language]!
  return spawnSync(program, [versionFlag], { stdio: 'ignore' }).status === 0
}

export function runSnippet(language: string, snippet: string, cases: Case[]): boolean[] {
  const { program, prepare } = RUNNERS[language]!
  const folder = mkdtempSync(join(tmpdir(), 'sluice-snippet-'))
  try {
    const args = prepare(folder, snippet)
    const input = cases.map((one) => `${JSON.stringify(one)}\n`).join('')
    const output = execFileSync(program, args, { cwd: folder, input, encoding: 'utf8' })
    return output
      .trim()
      .split('\n')
      .map((line) => line === 'true')
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
