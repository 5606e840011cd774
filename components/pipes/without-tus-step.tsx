import {
  curlUploadSnippet,
  type EmbedTarget,
  fetchUploadSnippet,
  swiftUploadSnippet,
} from '#lib/dashboard/embed/snippets.ts'
import { EmbedStep } from './embed-step.tsx'

export function WithoutTusStep({ target }: { target: EmbedTarget }) {
  return (
    <EmbedStep
      title="Without TUS: scripts, devices, apps"
      text="The same address accepts a file in one plain request, and resumable uploads from iPhones."
      snippets={[
        { name: 'curl', language: 'bash', code: curlUploadSnippet(target) },
        { name: 'Swift', language: 'swift', code: swiftUploadSnippet(target) },
        { name: 'fetch', language: 'js', code: fetchUploadSnippet(target) },
      ]}
    />
  )
}
