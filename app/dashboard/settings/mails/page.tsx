import { Mail } from 'lucide-react'
import { notFound } from 'next/navigation'
import { EmptyState } from '#components/ui/empty-state.tsx'
import { Panel } from '#components/ui/panel.tsx'
import { REACHABLE } from '#components/ui/reachable.ts'
import { LINK } from '#components/ui/text-link.tsx'
import { Time } from '#components/ui/time.tsx'
import { listKeptMails } from '#lib/dashboard/kept-mails.ts'
import { getRuntime } from '#lib/platform/runtime.ts'
import { requireSession } from '../../../session.ts'

export const metadata = { title: 'Emails' }

/** Only for the demo workspace, because its server may be unable to send email. */
export default async function Mails() {
  const session = await requireSession('own')
  if (!session.workspace.demo) notFound()
  const mails = await listKeptMails(getRuntime(), session)
  if (mails.length === 0) {
    return (
      <EmptyState icon={Mail} title="No emails yet">
        Without SMTP_URL, no email leaves this machine. This workspace's emails are shown here.
      </EmptyState>
    )
  }
  return (
    <div className="space-y-4">
      <p className="text-ink-soft text-sm">
        Without SMTP_URL, no email leaves this machine. Below are the emails to {session.email} and all other
        emails from this workspace.
      </p>
      {mails.map(({ at, to, subject, text }) => (
        <Panel key={at + subject} title={subject} aside={<Time at={at} className="text-ink-faint text-sm" />}>
          {to !== session.email && <p className="mb-2 text-ink-faint text-sm">To {to}</p>}
          <MailText text={text} />
        </Panel>
      ))}
    </div>
  )
}

/** A web address, without the punctuation at the end of its sentence. */
const ADDRESS = /(https?:\/\/\S*[^\s.,;:!?)])/

/** The text of an email, with working links. */
function MailText({ text }: { text: string }) {
  let at = 0
  return (
    <pre {...REACHABLE} className="overflow-x-auto whitespace-pre-wrap break-words font-sans text-sm">
      {text.split(ADDRESS).map((part, index) => {
        const key = at
        at += part.length
        // Every second part is a match.
        if (index % 2 === 0) return part
        return (
          <a key={key} href={part} className={`break-all ${LINK}`}>
            {part}
          </a>
        )
      })}
    </pre>
  )
}
