import type { File } from '#lib/dashboard/files/file.ts'
import { OBJECT_SETTINGS_IN_WORDS } from '../pipes/object-words.ts'
import { Facts } from '../ui/facts.tsx'
import { Panel } from '../ui/panel.tsx'

/** What the bucket is told of the object beside its bytes. */
export function FileObject({ object }: { object: NonNullable<File['object']> }) {
  const { metadata = {}, tags = {}, encryption, ...headers } = object
  const words = Object.entries(headers) as [keyof typeof headers, string][]
  return (
    <Panel title="Object settings">
      <Facts
        facts={[
          ...words.map(([name, value]): [string, string] => [OBJECT_SETTINGS_IN_WORDS[name], value]),
          ...(encryption
            ? [[OBJECT_SETTINGS_IN_WORDS.encryption, inWords(encryption)] as [string, string]]
            : []),
          ...Object.entries(metadata).map(([name, value]): [string, string] => [`x-amz-meta-${name}`, value]),
          ...Object.entries(tags).map(([name, value]): [string, string] => [`Tag ${name}`, value]),
        ]}
      />
    </Panel>
  )
}

const inWords = (encryption: NonNullable<NonNullable<File['object']>['encryption']>) =>
  encryption.type === 'SSE-KMS' ? `SSE-KMS with ${encryption.keyId}` : encryption.type
