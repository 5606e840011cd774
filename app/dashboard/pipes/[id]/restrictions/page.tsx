import { ActionForm } from '#components/ui/action-form.tsx'
import { CheckField, TextArea, TextField } from '#components/ui/field.tsx'
import { Panel } from '#components/ui/panel.tsx'
import { SizeField } from '#components/ui/size-field.tsx'
import { UnitSelect } from '#components/ui/unit-select.tsx'
import { showDataStore } from '#lib/workspace/data-stores/read-data-stores.ts'
import type { Pipe } from '#lib/workspace/pipes/pipe.ts'
import { titledByPipe } from '../../../title-of.ts'
import { currentPipe, type PipeProps } from '../current-pipe.ts'
import { restrict } from './actions.ts'
import { KeyTemplateField } from './key-template-field.tsx'

export const generateMetadata = titledByPipe('Restrictions')

const DAY_SECONDS = 86_400
const HOUR_SECONDS = 3600

export default async function Restrictions(props: PipeProps) {
  const { runtime, actor, pipe } = await currentPipe(props, 'see')
  const { prefix } = await showDataStore(runtime, actor, pipe.dataStoreId)
  return (
    <Panel
      title="Restrictions"
      description="Restrictions apply to new uploads. A token can tighten them, but never loosen them."
      className="max-w-3xl"
    >
      <RestrictionsForm pipe={pipe} prefix={prefix} />
    </Panel>
  )
}

function RestrictionsForm({ pipe, prefix }: { pipe: Pipe; prefix: string }) {
  const unitSeconds = pipe.uploadExpirySeconds % DAY_SECONDS === 0 ? DAY_SECONDS : HOUR_SECONDS
  return (
    <ActionForm
      right="build"
      action={restrict.bind(null, pipe.id)}
      submit="Save"
      className="flex flex-col gap-5"
    >
      <KeyTemplateField pipeId={pipe.id} template={pipe.keyTemplate} prefix={prefix} />
      <div className="grid gap-5 sm:grid-cols-2">
        <SizeField
          name="maxFileBytes"
          label="Largest file"
          optional
          bytes={pipe.maxFileBytes}
          placeholder="no limit"
        />
        <TextField
          name="uploadExpirySeconds"
          label="Unfinished uploads expire after"
          inputMode="numeric"
          defaultValue={pipe.uploadExpirySeconds / unitSeconds}
          hint="Counted from the last byte; 1 hour to 30 days."
          after={
            <UnitSelect name="uploadExpiryUnit" label="Unit of time" defaultValue={String(unitSeconds)}>
              <option value={HOUR_SECONDS}>hours</option>
              <option value={DAY_SECONDS}>days</option>
            </UnitSelect>
          }
        />
      </div>
      <div className="grid gap-5 sm:grid-cols-2">
        <TextArea
          name="allowedTypes"
          label="Allowed types"
          optional
          mono
          rows={3}
          defaultValue={pipe.allowedTypes.join('\n')}
          placeholder={'image/*\nvideo/mp4'}
          hint="One per line. Leave empty to allow any type. The type that the client declares is checked."
        />
        <TextArea
          name="allowedOrigins"
          label="Allowed origins"
          optional
          mono
          rows={3}
          defaultValue={pipe.allowedOrigins.join('\n')}
          placeholder="https://www.example.com"
          hint="The origins of pages that may upload. One per line. Leave empty to allow any origin."
        />
      </div>
      <CheckField
        name="verifyContent"
        label="Verify the content"
        hint="A file's first bytes must match its declared type, and text must be UTF-8. Otherwise the file fails with type_mismatch, before anything reaches a bucket. While this is selected, clients cannot join partial uploads."
        defaultChecked={pipe.verifyContent}
      />
      <CheckField
        name="computeSha256"
        label="Compute the SHA-256"
        hint="The SHA-256 of each file is in its event, in the API and on its page, and a file fails if its client declares a different one. Large files take about four times the CPU. While this is selected, every file is sent over one connection, and clients cannot join partial uploads."
        defaultChecked={pipe.computeSha256}
      />
      <CheckField
        name="requireSubject"
        label="Tokens must name a subject"
        hint="The subject is your own id for the uploader. An upload without one can be continued or canceled by anyone who knows its address and has a token from the same Sender without a subject."
        defaultChecked={pipe.requireSubject}
      />
    </ActionForm>
  )
}
