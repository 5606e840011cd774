'use client'

import { ActionForm } from '#components/ui/action-form.tsx'
import { TextArea } from '#components/ui/field.tsx'
import { importFiles } from './actions.ts'

export function ImportForm({ pipeId }: { pipeId: string }) {
  return (
    <ActionForm right="operate" action={importFiles.bind(null, pipeId)} submit="Import">
      <TextArea
        name="urls"
        label="URLs"
        mono
        rows={8}
        placeholder={'https://example.com/films/one.mp4\nhttps://example.com/films/two.mp4'}
        hint="One per line, up to 1,000. Sluice fetches them in the background, and resumes if a connection is lost."
      />
    </ActionForm>
  )
}
