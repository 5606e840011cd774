import { OBJECT_SETTINGS_IN_WORDS } from '#components/pipes/object-words.ts'
import { Facts } from '#components/ui/facts.tsx'
import { Panel } from '#components/ui/panel.tsx'
import type { File } from '#lib/dashboard/files/file.ts'

type Settings = NonNullable<File['object']>

/** The headers and tags sent with the object to each destination. */
export function FileObject({ object }: { object: Settings }) {
  return (
    <Panel title="Object settings">
      <Facts facts={factsOf(object)} />
    </Panel>
  )
}

/** The settings at one destination, including those that its Data Store adds. */
export function SentSettings({ object, to }: { object: Settings; to: string }) {
  return (
    <section aria-label={`Object settings in ${to}`}>
      <h3 className="mb-2 text-ink-soft text-xs">Object settings sent</h3>
      <Facts facts={factsOf(object)} />
    </section>
  )
}

function factsOf({ metadata = {}, tags = {}, encryption, ...headers }: Settings) {
  const words = Object.entries(headers) as [keyof typeof headers, string][]
  return {
    ...Object.fromEntries(words.map(([name, value]) => [OBJECT_SETTINGS_IN_WORDS[name], value])),
    [OBJECT_SETTINGS_IN_WORDS.encryption]: encryption && inWords(encryption),
    ...named('x-amz-meta-', metadata),
    ...named('Tag ', tags),
  }
}

const named = (prefix: string, pairs: Record<string, string>) =>
  Object.fromEntries(Object.entries(pairs).map(([name, value]) => [prefix + name, value]))

const inWords = (encryption: NonNullable<Settings['encryption']>) =>
  encryption.type === 'SSE-KMS' ? `SSE-KMS with ${encryption.keyId}` : encryption.type
