'use client'

import { clsx } from 'clsx'
import { useState } from 'react'
import { CheckField, SelectField, TextField } from '#components/ui/field.tsx'
import { Summary } from '#components/ui/summary.tsx'
import type { DataStore } from '#lib/workspace/data-stores/data-store.ts'
import { Credentials, type ServerFacts } from './credentials.tsx'
import type { FormPreset } from './provider-presets.ts'

export type DataStoreFacts = { presets: FormPreset[]; server: ServerFacts; store?: DataStore | undefined }

export function DataStoreFields({ presets, server, store }: DataStoreFacts) {
  const [provider, setProvider] = useState(store?.provider ?? 'aws')
  const preset = presets.find((one) => one.provider === provider)!
  const moved = store?.provider !== provider
  return (
    <>
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
    </>
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

type Provider = FormPreset['provider']
type PickerProps = { presets: FormPreset[]; value: Provider; onChange: (provider: Provider) => void }

function ProviderPicker({ presets, value, onChange }: PickerProps) {
  return (
    <fieldset>
      <legend className="mb-1.5 font-medium text-sm">Provider</legend>
      <div className="grid grid-cols-2 gap-2 sm:grid-cols-3">
        {presets.map(({ provider, label }) => (
          <label
            key={provider}
            className={clsx(
              'flex cursor-pointer items-center gap-2.5 rounded-md border px-3 py-2 text-sm max-sm:gap-2 max-sm:px-2.5 has-focus-visible:outline-2 has-focus-visible:outline-water',
              provider === value
                ? 'border-water bg-water-soft font-medium'
                : 'border-line-strong bg-raised hover:bg-hover',
            )}
          >
            <input
              type="radio"
              name="provider"
              value={provider}
              checked={provider === value}
              onChange={() => onChange(provider)}
              className="size-3.5 shrink-0 accent-(--water)"
            />
            <span className="min-w-0 leading-tight">{label}</span>
          </label>
        ))}
      </div>
    </fieldset>
  )
}
