import type { ReactNode } from 'react'
import { CodeBlock } from '#components/ui/code-block.tsx'
import { CodeTabs } from '#components/ui/code-tabs.tsx'
import { Copyable } from '#components/ui/copyable.tsx'
import { IfMay } from '#components/ui/rights.tsx'
import { ActionSwitch } from '#components/ui/switch.tsx'
import { TextLink } from '#components/ui/text-link.tsx'
import type { HostKey } from '#lib/sftp/read-host-key.ts'
import type { Pipe } from '#lib/workspace/pipes/pipe.ts'
import { type Source, switchSource } from '../actions.ts'

type PanelProps = { pipe: Pipe; source: Source; label: string; hint: string; children: ReactNode }

export function SourcePanel({ pipe, source, label, hint, children }: PanelProps) {
  return (
    <div className="rounded-lg border bg-surface p-4">
      <ActionSwitch
        on={pipe.source[source]}
        label={label}
        hint={hint}
        action={switchSource.bind(null, pipe.id, source)}
        right="build"
      />
      <div className="mt-4 border-t pt-4 text-ink-faint text-sm">{children}</div>
    </div>
  )
}

type BytesProps = {
  pipe: Pipe
  /** While the Pipe is blocked, it does not offer uploads or imports, which would be rejected. */
  blocked: boolean
}

export function HttpSource({ pipe, blocked }: BytesProps) {
  return (
    <SourcePanel
      pipe={pipe}
      source="http"
      label="HTTP (TUS)"
      hint="Accepts resumable uploads from browsers, apps and servers."
    >
      {pipe.source.http ? (
        <>
          <div className="text-ink">
            <p className="mb-1.5 font-medium">Endpoint</p>
            <Copyable text={pipe.uploadUrl} what="endpoint" />
          </div>
          <p className="mt-2">
            Add an uploader to your page with the code under{' '}
            <TextLink href={`/dashboard/pipes/${pipe.id}/embed`}>Embed</TextLink>
            {!blocked && (
              <IfMay right="operate">
                , or <TextLink href={`/dashboard/pipes/${pipe.id}/try`}>try it here</TextLink>
              </IfMay>
            )}
            .
          </p>
        </>
      ) : (
        'Switch it on to get the endpoint. While it is off, new uploads get 403; those in progress continue.'
      )}
    </SourcePanel>
  )
}

export function UrlSource({ pipe, blocked }: BytesProps) {
  return (
    <SourcePanel pipe={pipe} source="url" label="URL" hint="Fetches files that are already on the internet.">
      {pipe.source.url ? (
        <>
          Backends create imports through the <TextLink href="/docs/import">API</TextLink>
          {!blocked && (
            <IfMay right="operate">
              , and you can <TextLink href={`/dashboard/pipes/${pipe.id}/import`}>paste URLs here</TextLink>
            </IfMay>
          )}
          .
        </>
      ) : (
        'Switch it on to import files. While it is off, new imports get 409; those in progress continue.'
      )}
    </SourcePanel>
  )
}

type SftpProps = {
  pipe: Pipe
  /** Undefined if this server does not accept SFTP. */
  address: { host: string; port: number } | undefined
  /** Undefined until the first node has created it. */
  hostKey: HostKey | undefined
}

export function SftpSource({ pipe, address, hostKey }: SftpProps) {
  return (
    <SourcePanel
      pipe={pipe}
      source="sftp"
      label="SFTP"
      hint="Accepts files from machines that only support SFTP."
    >
      <div className="space-y-3">
        {!address && (
          <p>
            This server does not accept SFTP. Your administrator can{' '}
            <TextLink href="/docs/self-hosting">set SFTP_PORT</TextLink>.
          </p>
        )}
        {address && !pipe.source.sftp && <p>Switch it on to get the commands for the common clients.</p>}
        {address && pipe.source.sftp && (
          <>
            {hostKey && (
              <div>
                <p className="mb-1.5 font-medium text-ink">Host key fingerprint</p>
                <Copyable text={hostKey.fingerprint} what="fingerprint" />
              </div>
            )}
            <CodeTabs label="Commands" tabs={commands(pipe.id, { ...address, hostKey })} />
            <p>
              The user name is the Pipe's id, and the password is a temporary token from the{' '}
              <TextLink href="/docs/token-api">Token API</TextLink>. How clients resume, and what they see, is
              described in <TextLink href="/docs/sftp">the guide</TextLink>.
            </p>
          </>
        )}
      </div>
    </SourcePanel>
  )
}

type Address = { host: string; port: number; hostKey: HostKey | undefined }

/** The token stays in the environment to keep it out of the shell history. */
function commands(user: string, { host, port, hostKey }: Address) {
  const fingerprint = hostKey?.fingerprint.replace('SHA256:', '') ?? '*'
  const codes = {
    OpenSSH: `sftp -P ${port} ${user}@${host}\n# put film.mp4; after a lost connection: reput film.mp4`,
    lftp: `lftp -u ${user},$TOKEN -p ${port} -e 'put -c film.mp4; bye' sftp://${host}`,
    rclone: `rclone copy films ":sftp,host=${host},port=${port},user=${user},pass=$(rclone obscure $TOKEN),shell_type=none:films"`,
    curl: `curl -u ${user}:$TOKEN -C - -T film.mp4 sftp://${host}:${port}/film.mp4`,
    WinSCP: `open sftp://${user}:%TOKEN%@${host}:${port}/ -hostkey="ssh-ed25519 255 ${fingerprint}"\nput film.mp4`,
    FileZilla: `Protocol: SFTP\nHost: ${host}, port: ${port}\nLogon type: Normal\nUser: ${user}\nPassword: the token`,
  }
  return Object.entries(codes).map(([name, code]) => ({
    name,
    panel: <CodeBlock bare code={code} language={code.startsWith('Protocol') ? 'text' : 'bash'} />,
  }))
}
