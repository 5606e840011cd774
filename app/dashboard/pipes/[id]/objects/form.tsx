'use client'

import { useState } from 'react'
import { OBJECT_SETTINGS_IN_WORDS } from '#components/pipes/object-words.ts'
import { ActionForm } from '#components/ui/action-form.tsx'
import { CheckList, SelectField, TextArea, TextField } from '#components/ui/field.tsx'
import { Notice } from '#components/ui/notice.tsx'
import type { ObjectSettings } from '#drizzle/schema/index.ts'
import type { Pipe } from '#lib/workspace/pipes/pipe.ts'
import { setObject } from './actions.ts'

type Outcome = { refusals: string[] }

export function ObjectForm({ pipe }: { pipe: Pipe }) {
  const [refusals, setRefusals] = useState<string[]>([])
  return (
    <ActionForm<Outcome>
      right="build"
      action={setObject.bind(null, pipe.id)}
      onDone={(outcome) => setRefusals(outcome.refusals)}
      outcome={({ refusals }) => <Refusals refusals={refusals} />}
      submit="Save"
      className="flex flex-col gap-5"
    >
      <ObjectFields object={pipe.object ?? {}} />
      <CheckList
        name="tokensMaySet"
        legend="A token may set"
        options={Object.entries(OBJECT_SETTINGS_IN_WORDS)}
        chosen={pipe.object?.tokensMaySet}
        hint="Your backend can set the selected settings in a token. Metadata and tags are added to those above; other settings replace them."
        className="grid gap-3 sm:grid-cols-3"
      />
      <Refusals refusals={refusals} />
    </ActionForm>
  )
}

function Refusals({ refusals }: Outcome) {
  if (refusals.length === 0) return null
  return (
    <Notice tone="bad" title="Saved, but uploads with these settings will be refused.">
      {refusals.map((refusal) => (
        <p key={refusal} className="break-words">
          {refusal}
        </p>
      ))}
    </Notice>
  )
}

const FIELDS = '{file_id} {filename} {ext} {path} {yyyy} {mm} {dd} {sender} {pipe_id}'

function ObjectFields({ object }: { object: ObjectSettings }) {
  return (
    <>
      <div className="grid gap-5 sm:grid-cols-2">
        <TextField
          name="object.cacheControl"
          label="Cache-Control"
          optional
          mono
          defaultValue={object.cacheControl}
          placeholder="public, max-age=31536000"
          hint="How long browsers and CDNs may cache the object."
        />
        <SelectField
          name="object.contentDisposition"
          label="Content-Disposition"
          defaultValue={object.contentDisposition ?? ''}
          hint="Downloads use the file name, whatever the key is."
          options={[
            ['', 'not set'],
            ['inline', 'inline: shown in the browser'],
            ['attachment', 'attachment: saved as a file'],
          ]}
        />
      </div>
      <Keeping object={object} />
      <div className="grid gap-5 sm:grid-cols-2">
        <Pairs
          name="metadata"
          pairs={object.metadata}
          placeholder={'sender: {sender}\nuploaded: {yyyy}-{mm}-{dd}'}
        >
          One x-amz-meta- header per line, as name: value. Fields: {FIELDS}.
        </Pairs>
        <Pairs name="tags" pairs={object.tags} placeholder={'team: media\nkind: {ext}'}>
          One tag per line, as name: value. The fields are the same as for metadata. The Data Store's keys
          need s3:PutObjectTagging.
        </Pairs>
      </div>
    </>
  )
}

/** How the bucket stores the object. Unset options use the Data Store's settings. */
function Keeping({ object }: { object: ObjectSettings }) {
  const { encryption } = object
  const [type, setType] = useState<string>(encryption?.type ?? '')
  return (
    <div className="grid gap-5 sm:grid-cols-2">
      <TextField
        name="object.storageClass"
        label="Storage class"
        optional
        mono
        defaultValue={object.storageClass}
        placeholder="STANDARD_IA"
        hint="If empty, the Data Store's setting is used."
      />
      <SelectField
        name="encryption"
        label="Encryption"
        value={type}
        onChange={(event) => setType(event.target.value)}
        hint="The bucket encrypts the object."
        options={[
          ['', "use the Data Store's setting"],
          ['SSE-S3', 'SSE-S3 (AES256)'],
          ['SSE-KMS', 'SSE-KMS, with your own key'],
        ]}
      />
      {type === 'SSE-KMS' && (
        <TextField
          name="object.encryption"
          label="KMS key id or ARN"
          mono
          className="sm:col-span-2"
          defaultValue={encryption?.type === 'SSE-KMS' ? encryption.keyId : ''}
          hint="Every bucket that the Pipe sends to must be able to use this key."
        />
      )}
    </div>
  )
}

type PairsProps = {
  name: 'metadata' | 'tags'
  pairs: Record<string, string> | undefined
  placeholder: string
  children: React.ReactNode
}

function Pairs({ name, pairs = {}, placeholder, children }: PairsProps) {
  return (
    <TextArea
      name={`object.${name}`}
      label={OBJECT_SETTINGS_IN_WORDS[name]}
      optional
      mono
      rows={4}
      defaultValue={Object.entries(pairs)
        .map((pair) => pair.join(': '))
        .join('\n')}
      placeholder={placeholder}
      hint={children}
    />
  )
}
