'use client'

import { type ReactNode, useState } from 'react'
import { ActionForm } from '#components/ui/action-form.tsx'
import { CheckField, SelectField, TextField } from '#components/ui/field.tsx'
import type { FormAction } from '#components/ui/form-state.ts'
import { Summary } from '#components/ui/summary.tsx'
import type { DataStore } from '#lib/workspace/data-stores/data-store.ts'
import { Credentials, type ServerFacts } from './credentials.tsx'
import { ProviderPicker } from './provider-picker.tsx'
import type { FormPreset } from './provider-presets.ts'

type Props<Data> = {
  presets: FormPreset[]
  server: ServerFacts
  store?: DataStore
  submit: string
  action: FormAction<Data>
  onDone?: (data: Data) => void
  outcome?: (data: Data) => ReactNode
  aside?: ReactNode
}

export function DataStoreForm<Data = undefined>(props: Props<Data>) {
  const { presets, server, store, submit, action, onDone, outcome, aside } = props
  const [provider, setProvider] = useState(store?.provider ?? 'aws')
  const preset = presets.find((one) => one.provider === provider)!
  const moved = store?.provider !== provider
  return (
    <ActionForm
      right="administer"
      action={action}
      submit={submit}
      {...(onDone && { onDone })}
      {...(outcome && { outcome })}
      aside={aside}
      className="flex flex-col gap-5"
    >
      <ProviderPicker presets={presets} value={provider} onChange={setProvider} />
      <div className="grid gap-4 sm:grid-cols-2">
        <TextField
          name="name"
          label="Name"
          defaultValue={store?.name}
          placeholder="Media bucket"
          hint="For your own use. Webhooks only contain the id."
          maxLength={100}
        />
        <TextField
          name="bucket"
          label={provider === 'azure' ? 'Container' : 'Bucket'}
          defaultValue={store?.bucket}
          placeholder="acme-media"
          mono
        />
        {preset.fixedRegion ? (
          <input type="hidden" name="region" value={preset.fixedRegion} />
        ) : (
          <TextField
            key={`region of ${provider}`}
            name="region"
            label="Region"
            defaultValue={moved ? undefined : store?.region}
            placeholder={preset.regionExample}
            mono
          />
        )}
        {(preset.endpoint === null || (store && !moved)) && (
          <TextField
            key={`endpoint of ${provider}`}
            name="endpoint"
            label="Endpoint"
            defaultValue={moved ? undefined : store?.endpoint}
            placeholder={preset.endpointExample ?? preset.endpoint ?? ''}
            mono
            inputMode="url"
          />
        )}
        <TextField
          name="prefix"
          label="Prefix"
          optional
          defaultValue={store?.prefix}
          placeholder="uploads/"
          mono
          hint="Every object key starts with this prefix."
        />
      </div>
      <fieldset className="grid gap-4 border-t pt-5 sm:grid-cols-2">
        <legend className="sr-only">Keys</legend>
        <p className="text-ink-soft text-sm sm:col-span-2">
          Use credentials with permission to put objects in this bucket. No other permission is needed.
          {preset.provider !== 'other' && (
            <>
              {' '}
              At {preset.label}: <span className="text-ink">{preset.keysHint}</span>.
            </>
          )}
        </p>
        {preset.help && <p className="text-ink-soft text-sm sm:col-span-2">{preset.help}</p>}
        <Credentials
          key={`credentials of ${provider}`}
          provider={provider}
          store={moved ? undefined : store}
          server={server}
        />
      </fieldset>
      <details className="group border-t pt-4">
        <Summary className="w-fit font-medium text-ink-soft hover:text-ink">More settings</Summary>
        <div className="mt-4 grid gap-4 sm:grid-cols-2">
          {provider !== 'azure' && <Encryption store={store} />}
          <TextField
            key={`storage class of ${provider}`}
            name="storageClass"
            label={provider === 'azure' ? 'Access tier' : 'Storage class'}
            optional
            defaultValue={moved ? undefined : (store?.storageClass ?? undefined)}
            placeholder={provider === 'azure' ? 'COOL' : 'STANDARD'}
            mono
          />
          {provider === 'azure' ? (
            <input type="hidden" name="forcePathStyle" value="on" />
          ) : (
            <CheckField
              key={provider}
              name="forcePathStyle"
              label="Path-style addresses"
              hint="The bucket name is part of the path, not of the host name."
              defaultChecked={store && !moved ? store.forcePathStyle : preset.forcePathStyle}
            />
          )}
        </div>
      </details>
    </ActionForm>
  )
}

function Encryption({ store }: { store: DataStore | undefined }) {
  const [type, setType] = useState<string>(store?.encryption?.type ?? 'none')
  const keyId = store?.encryption?.type === 'SSE-KMS' ? store.encryption.keyId : undefined
  return (
    <>
      <SelectField
        name="encryption"
        label="Server-side encryption"
        value={type}
        onChange={(event) => setType(event.target.value)}
        options={[
          ['none', "The bucket's default"],
          ['SSE-S3', 'SSE-S3'],
          ['SSE-KMS', 'SSE-KMS'],
        ]}
      />
      {type === 'SSE-KMS' && <TextField name="kmsKeyId" label="KMS key" defaultValue={keyId} mono />}
    </>
  )
}
