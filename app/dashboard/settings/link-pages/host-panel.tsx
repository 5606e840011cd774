import { Stethoscope } from 'lucide-react'
import type { z } from 'zod'
import { ActionForm } from '#components/ui/action-form.tsx'
import { ConfirmDialog } from '#components/ui/confirm-dialog.tsx'
import { Copyable } from '#components/ui/copyable.tsx'
import { Facts } from '#components/ui/facts.tsx'
import { TextField } from '#components/ui/field.tsx'
import { Notice } from '#components/ui/notice.tsx'
import { Panel } from '#components/ui/panel.tsx'
import { IfMay } from '#components/ui/rights.tsx'
import { Status } from '#components/ui/status.tsx'
import { TextLink } from '#components/ui/text-link.tsx'
import { LocalTime } from '#components/ui/time.tsx'
import type { linkHostAnswer } from '#lib/upload-links/link-host.ts'
import { checkHost, removeHost, saveHost } from './actions.ts'

type Given = z.output<typeof linkHostAnswer>

export function HostPanel({ host, verifiedAt, records, certificate }: Given) {
  return (
    <Panel
      title="Host name"
      description={
        <>
          Upload links and the files sent through them can use a host name of your own. It needs{' '}
          <TextLink href="/docs/upload-links#your-host-name">records in DNS and a certificate</TextLink>.
        </>
      }
      aside={host && <Status state={verifiedAt ? 'verified' : 'unverified'} />}
      className="mt-6 max-w-2xl"
    >
      {host === null ? (
        <ActionForm right="administer" action={saveHost} submit="Add" submitTone="plain">
          <TextField
            name="host"
            label="Host"
            mono
            placeholder="files.example.com"
            maxLength={253}
            className="max-w-sm"
          />
        </ActionForm>
      ) : (
        <div className="space-y-4">
          {verifiedAt ? (
            <p className="text-sm">
              New upload links start with <span className="break-all font-mono text-xs">{host}</span>
              {certificate?.validUntil === null && ' once it has a certificate'}. Earlier ones also keep
              working at their old address.
            </p>
          ) : (
            <Records host={host} records={records} />
          )}
          {certificate && <Certificate {...certificate} />}
          {/* The buttons stay beside each other below the error of a failed check. */}
          <div className="flex flex-wrap items-center gap-3 [&_[data-form-error]]:w-full">
            {(!verifiedAt || certificate?.fault) && (
              <ActionForm
                right="administer"
                action={checkHost}
                submit="Check now"
                className="contents"
                icon={<Stethoscope aria-hidden />}
              />
            )}
            <IfMay right="administer">
              <ConfirmDialog
                trigger="Remove"
                triggerLabel={`Remove ${host}`}
                title={`Remove ${host}`}
                confirm="Remove"
                action={removeHost}
              >
                <p>
                  Upload links that you sent with this host stop working there. They keep working with the
                  host of this page.
                </p>
              </ConfirmDialog>
            </IfMay>
          </div>
        </div>
      )}
    </Panel>
  )
}

function Certificate({ validUntil, fault }: NonNullable<Given['certificate']>) {
  if (fault !== null)
    return (
      <Notice tone="warn" title={validUntil ? 'The certificate is not renewed' : 'No certificate yet'}>
        <p className="break-words">{fault}</p>
        <p>Sluice tries again later, and within a few minutes after you press “Check now”.</p>
      </Notice>
    )
  return (
    <p className="text-ink-soft text-sm">
      {validUntil ? (
        <>
          Its certificate is valid until <LocalTime at={validUntil} />, and will be renewed before that.
        </>
      ) : (
        'Its certificate is being ordered, which takes a few minutes.'
      )}
    </p>
  )
}

function Records({ host, records }: Pick<Given, 'records'> & { host: string }) {
  return (
    <>
      <p className="text-sm">
        Create these records in the DNS of <span className="break-all font-mono text-xs">{host}</span>, and
        then check them here. New records can take some minutes to be visible.
      </p>
      {records.map(({ type, name, value }) => (
        <Facts
          key={type}
          facts={{
            Type: type,
            Name: <Copyable text={name} what={`name of the ${type} record`} />,
            Value: <Copyable text={value} what={`value of the ${type} record`} />,
          }}
        />
      ))}
    </>
  )
}
