import { ChevronRight } from 'lucide-react'
import type { WebhookOutput } from '#lib/webhooks/outputs/webhook-output.ts'
import { CheckField, TextArea, TextField } from '../ui/field.tsx'

const KINDS = [
  ['file.created', 'an upload begins'],
  ['data_store.failing', 'a bucket rejects uploads'],
  ['data_store.recovered', 'it takes uploads again'],
  ['output.turned_off', 'Sluice turns a webhook output off'],
  ['usage.threshold', '80 or 100 % of the transfer of a month is used'],
] as const

type Props = { output: WebhookOutput | undefined; ofWorkspace: boolean; open: boolean }

export function NameField({ value }: { value: string }) {
  return (
    <TextField
      name="name"
      label="Name"
      defaultValue={value}
      maxLength={100}
      hint="What it is called here: Backend, Data pipeline, Chat."
    />
  )
}

/** What few need to look at: folded, except where an output is made for a purpose of its own. Its name comes first there. */
export function FurtherFields({ output, ofWorkspace, open }: Props) {
  const names = output?.headerNames ?? []
  const kinds = KINDS.filter(([kind]) => ofWorkspace || kind !== 'usage.threshold')
  return (
    <details open={open} className="group">
      <summary className="flex cursor-pointer items-center gap-1.5 text-sm [&::-webkit-details-marker]:hidden">
        <ChevronRight
          className="size-3.5 text-ink-faint transition-transform group-open:rotate-90"
          aria-hidden
        />
        {open ? 'More events and request headers' : 'Name, more events and request headers'}
      </summary>
      <div className="mt-4 space-y-4">
        {!open && <NameField value={output?.name ?? 'Webhook'} />}
        <fieldset className="space-y-2">
          <legend className="mb-2 font-medium text-sm">Send an event when</legend>
          {kinds.map(([kind, label]) => (
            <CheckField
              key={kind}
              name="events"
              value={kind}
              label={
                <>
                  {label} <code className="text-ink-faint text-xs">{kind}</code>
                </>
              }
              defaultChecked={output?.events.includes(kind)}
            />
          ))}
        </fieldset>
        <TextArea
          name="headers"
          label="Request headers"
          optional
          mono
          rows={2}
          spellCheck={false}
          autoComplete="off"
          placeholder="X-Api-Key: …"
          hint={
            names.length > 0
              ? `Set: ${names.join(', ')}. Values are stored encrypted and not shown. What you enter replaces all of them.`
              : 'What your receiver demands, one on each line. Values are stored encrypted and not shown again.'
          }
        />
        {names.length > 0 && <CheckField name="dropHeaders" label="Remove all of them" />}
      </div>
    </details>
  )
}
