import { CodeBlock } from '#components/ui/code-block.tsx'
import { CodeTabs } from '#components/ui/code-tabs.tsx'
import { Panel } from '#components/ui/panel.tsx'
import { TextLink } from '#components/ui/text-link.tsx'
import { clientAddress } from '#lib/folders/client-address.ts'
import { getRuntime } from '#lib/platform/runtime.ts'
import type { Pipe } from '#lib/workspace/pipes/pipe.ts'
import type { Limits } from '#lib/workspace/senders/limits.ts'

type Props = {
  /** The limits that apply: its own, or those of its group. */
  limits: Pick<Limits, 'pipeIds' | 'sources'>
  pipes: Pipe[]
}

/** What to enter into a device or a client, for the first Pipe that each way in leads to. */
export function WaysIn({ limits: { pipeIds, sources }, pipes }: Props) {
  const usable = pipes.filter(({ id }) => pipeIds?.includes(id) ?? true)
  const ways = Object.entries(waysOf(usable)).filter(
    ([, { source, code }]) => code && (sources?.includes(source) ?? true),
  )
  if (ways.length === 0)
    return (
      <Panel
        title="Ways in"
        description="It can use no Pipe: allow one below, or switch on a source of a Pipe that it may use."
      />
    )
  return (
    <Panel
      title="Ways in"
      description={
        <>
          What to enter where. To reach another Pipe, use its id.{' '}
          <TextLink href="/docs/devices">The guide</TextLink> goes through the forms of a camera, a scanner
          and a PLC.
        </>
      }
    >
      <CodeTabs
        label="Ways in"
        tabs={ways.map(([name, { code }]) => ({
          name,
          panel: <CodeBlock bare code={code!} language="text" />,
        }))}
      />
    </Panel>
  )
}

type Way = { source: 'http' | 'sftp' | 'ftp'; code: string | undefined }

function waysOf(pipes: Pipe[]): Record<string, Way> {
  const { config } = getRuntime()
  const { host, port: ftpPort } = clientAddress(config, config.ftp?.port ?? 0)!
  const of = (has: (source: Pipe['source']) => boolean) => pipes.find(({ source }) => has(source))
  const form = (pipe: Pipe | undefined, fields: (pipe: Pipe) => Record<string, string | number>) =>
    pipe &&
    Object.entries(fields(pipe))
      .map(([name, value]) => `${name}: ${value}`)
      .join('\n')
  const { ftp, sftpPort } = config
  const overFtp = ftp && of((source) => source.ftps || (ftp.plain && source.ftp))
  const overSftp = sftpPort === undefined ? undefined : of((source) => source.sftp)
  const device = ({ id, source }: Pipe) => ({
    Server: host,
    Port: ftpPort,
    Encryption: source.ftps ? 'explicit TLS (FTPES, AUTH TLS)' : 'none',
    Mode: 'passive',
    User: id,
  })
  return {
    Camera: {
      source: 'ftp',
      code: form(overFtp, (pipe) => ({
        ...device(pipe),
        Password: "the Sender's token (sk_…)",
        Path: '/, or a folder for this camera',
        'File name': 'with date and time',
      })),
    },
    Scanner: {
      source: 'ftp',
      code: form(overFtp, (pipe) => ({
        Destination: 'FTP server',
        ...device(pipe),
        Password: "the Sender's token (sk_…)",
        Folder: '/',
      })),
    },
    'SFTP client': {
      source: 'sftp',
      code: form(overSftp, ({ id }) => ({
        Protocol: 'SFTP',
        Host: host,
        Port: sftpPort!,
        User: id,
        'Log in with': 'a key from the list below, or a temporary token as the password',
      })),
    },
    Backend: {
      source: 'http',
      code: form(
        of(({ http }) => http),
        ({ id }) => ({
          Address: `POST ${config.baseUrl}/api/v1/tokens`,
          Authorization: "Bearer and the Sender's token (sk_…)",
          Body: JSON.stringify({ pipeId: id }),
        }),
      ),
    },
  }
}
