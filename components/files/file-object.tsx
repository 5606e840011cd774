import type { File } from '#lib/dashboard/files/file.ts'
import { OBJECT_SETTINGS_IN_WORDS } from '../pipes/object-words.ts'
import { Facts } from '../ui/facts.tsx'
import { Panel } from '../ui/panel.tsx'

/** The headers and tags stored with the object. */
export function FileObject({ object }: { object: NonNullable<File['object']> }) {
  const { metadata = {}, tags = {}, encryption, ...headers } = object
  const words = Object.entries(headers) as [keyof typeof headers, string][]
  return (
    <Panel title="Object settings">
      <Facts
        facts={{
          ...Object.fromEntries(words.map(([name, value]) => [OBJECT_SETTINGS_IN_WORDS[name], value])),
          [OBJECT_SETTINGS_IN_WORDS.encryption]: encryption && inWords(encryption),
          ...named('x-amz-meta-', metadata),
          ...named('Tag ', tags),
        }}
      />
    </Panel>
  )
}

const named = (prefix: string, pairs: Record<string, string>) =>
  Object.fromEntries(Object.entries(pairs).map(([name, value]) => [prefix + name, value]))

const inWords = (encryption: NonNullable<NonNullable<File['object']>['encryption']>) =>
  encryption.type === 'SSE-KMS' ? `SSE-KMS with ${encryption.keyId}` : encryption.type
