import { CodeBlock } from '#components/ui/code-block.tsx'
import { TextLink } from '#components/ui/text-link.tsx'
import type { Pipe } from '#lib/workspace/pipes/pipe.ts'
import { SourcePanel } from './panels.tsx'

type Address = { host: string; port: number }
type Props = {
  pipe: Pipe
  /** Undefined if this server does not accept FTP. */
  address: Address | undefined
  /** Whether this server accepts FTP without encryption. */
  plain: boolean | undefined
}

/** Two switches, because unencrypted connections are a decision of their own. */
export function FtpSources({ pipe, address, plain }: Props) {
  return (
    <>
      <SourcePanel
        pipe={pipe}
        source="ftps"
        label="FTPS"
        hint="Accepts files from cameras, scanners and machines that encrypt FTP (explicit TLS)."
      >
        {address ? (
          pipe.source.ftps ? (
            <Form pipe={pipe} address={address} protocol="FTPS, explicit (FTPES, AUTH TLS)" />
          ) : (
            'Switch it on to get what to enter into a device.'
          )
        ) : (
          <>
            This server does not accept FTP. Your administrator can{' '}
            <TextLink href="/docs/self-hosting">set FTP_PORT</TextLink>.
          </>
        )}
      </SourcePanel>
      {(plain || pipe.source.ftp) && (
        <SourcePanel
          pipe={pipe}
          source="ftp"
          label="FTP, unencrypted"
          hint="For devices that cannot encrypt. Anyone on the way can read their files and their password."
        >
          {!plain || !address ? (
            'This server only accepts encrypted connections. Your administrator can set FTP_PLAIN.'
          ) : pipe.source.ftp ? (
            <Form pipe={pipe} address={address} protocol="FTP" />
          ) : (
            'Leave it off if every device can use FTPS.'
          )}
        </SourcePanel>
      )}
    </>
  )
}

function Form({ pipe, address, protocol }: { pipe: Pipe; address: Address; protocol: string }) {
  const fields = {
    Protocol: protocol,
    Server: address.host,
    Port: address.port,
    Mode: 'passive',
    User: pipe.id,
    Password: "the device's Sender token (sk_…), or a temporary token",
  }
  const code = Object.entries(fields).map(([name, value]) => `${name}: ${value}`)
  return (
    <>
      <CodeBlock code={code.join('\n')} language="text" />
      <p className="mt-3">
        Create a <TextLink href="/dashboard/senders">Sender</TextLink> for each device, so that each one can
        be revoked. <TextLink href="/docs/devices">The guide</TextLink> goes through the forms of a camera, a
        scanner and a PLC.
      </p>
    </>
  )
}
