import { ConfirmDialog } from '#components/ui/confirm-dialog.tsx'
import { TextArea, TextField } from '#components/ui/field.tsx'
import { FormDialog } from '#components/ui/form-dialog.tsx'
import { Panel } from '#components/ui/panel.tsx'
import { IfMay } from '#components/ui/rights.tsx'
import { ACTIONS, LONG, SOFT, Table } from '#components/ui/table.tsx'
import { TextLink } from '#components/ui/text-link.tsx'
import { Time } from '#components/ui/time.tsx'
import type { SenderKey } from '#lib/sftp/sender-keys.ts'
import type { Sender } from '#lib/workspace/senders/sender.ts'
import { addKey, removeKey } from './actions.ts'

type Props = {
  sender: Pick<Sender, 'id' | 'revokedAt'>
  keys: SenderKey[]
  /** Whether this server accepts SFTP. */
  takesSftp: boolean
}

export function SenderKeys({ sender, keys, takesSftp }: Props) {
  const add = !sender.revokedAt && (
    <IfMay right="build">
      <AddKey senderId={sender.id} />
    </IfMay>
  )
  if (keys.length === 0)
    return sender.revokedAt ? null : (
      <Panel title="SSH keys" description={<About takesSftp={takesSftp} />} aside={add} />
    )
  return (
    <section aria-labelledby="keys">
      <div className="mb-2 flex flex-wrap items-end justify-between gap-x-4 gap-y-2">
        <div>
          <h2 id="keys" className="font-semibold text-base">
            SSH keys
          </h2>
          <p className="text-ink-soft text-sm">
            <About takesSftp={takesSftp} />
          </p>
        </div>
        {add}
      </div>
      <Table
        caption="SSH keys"
        rows={keys}
        columns={[
          ['Key', (key) => <Name of={key} />, { className: 'max-w-none' }],
          ['Subject', ({ subject }) => subject ?? '–', LONG],
          ['Added', ({ createdAt }) => <Time at={createdAt} />, SOFT],
          ['Last used', (key) => <LastUse of={key} />, SOFT],
          ['Actions', (key) => <Remove senderId={sender.id} sshKey={key} />, ACTIONS],
        ]}
      />
    </section>
  )
}

function About({ takesSftp }: { takesSftp: boolean }) {
  return (
    <>
      Machines use them to sign in <TextLink href="/docs/sftp">over SFTP</TextLink>, instead of a temporary
      token.
      {!takesSftp && ' This server does not accept SFTP yet.'}
    </>
  )
}

function Name({ of: { name, fingerprint } }: { of: SenderKey }) {
  return (
    <span className="block py-1.5">
      <span className="block font-medium">{name}</span>
      <code className="block whitespace-normal break-all font-mono text-ink-soft text-xs">{fingerprint}</code>
    </span>
  )
}

function LastUse({ of: { lastUsedAt, lastAddress } }: { of: SenderKey }) {
  if (!lastUsedAt) return 'never'
  return (
    <>
      <Time at={lastUsedAt} />
      {lastAddress && <span className="block text-ink-faint text-xs">from {lastAddress}</span>}
    </>
  )
}

function AddKey({ senderId }: { senderId: string }) {
  return (
    <FormDialog
      title="Add an SSH key"
      description="Anyone with its private key can upload for this Sender, to every Pipe that it may use and whose SFTP source is on."
      trigger="Add a key"
      look={{}}
      action={addKey.bind(null, senderId)}
      submit="Add"
    >
      <TextField name="name" label="Name" placeholder="Studio" autoFocus maxLength={100} />
      <TextArea
        name="publicKey"
        label="Public key"
        placeholder="ssh-ed25519 AAAAC3Nza…"
        hint="One line, as in id_ed25519.pub: Ed25519, ECDSA, or RSA of at least 2048 bits."
        mono
      />
      <TextField
        name="subject"
        label="Subject"
        optional
        hint="Your own id for the partner. Keys and tokens with the same id share a directory."
      />
    </FormDialog>
  )
}

function Remove({ senderId, sshKey: { id, name } }: { senderId: string; sshKey: SenderKey }) {
  return (
    <IfMay right="build">
      <ConfirmDialog
        trigger="Remove"
        title={`Remove ${name}`}
        confirm="Remove"
        action={removeKey.bind(null, senderId, id)}
      >
        <p>
          The key can no longer be used to sign in, and its open SFTP sessions end on their next request.
          Bytes that have arrived are kept.
        </p>
      </ConfirmDialog>
    </IfMay>
  )
}
