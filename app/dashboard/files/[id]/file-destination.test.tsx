import { renderToStaticMarkup } from 'react-dom/server'
import { expect, it } from 'vitest'
import type { DestinationProgress } from '#lib/dashboard/files/destination-progress.ts'
import type { File } from '#lib/dashboard/files/file.ts'
import { FileDestination } from './file-destination.tsx'

const progress: DestinationProgress = {
  destinationId: 's',
  name: 'Media',
  sentBytes: 5,
  repairedBytes: null,
  repairAtMs: null,
  isRepairing: false,
  sources: [],
  inConsole: { console: 'AWS console', href: 'https://eu-central-1.console.aws.amazon.com/s3/object/media' },
}

it.each([
  ['transferred', true],
  ['transferring', false],
  ['failed', false],
] as const)('of an object that is %s links to the console: %s', (status, isLinked) => {
  const destination = { destinationId: 's', bucket: 'media', key: 'a', status, etag: null, required: true }
  const file = { status: 'transferred', size: 5, destinations: [destination] } as unknown as File
  const html = renderToStaticMarkup(
    <FileDestination file={file} destination={destination} progress={progress} />,
  )
  expect(html.includes(`href="${progress.inConsole!.href}"`)).toBe(isLinked)
  expect(html.includes('Open in the AWS console')).toBe(isLinked)
})
