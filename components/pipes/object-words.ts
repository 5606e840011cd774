import type { ObjectSettings } from '#drizzle/schema/index.ts'

export const OBJECT_SETTINGS_IN_WORDS: Record<keyof ObjectSettings, string> = {
  metadata: 'Metadata',
  cacheControl: 'Cache-Control',
  contentDisposition: 'Content-Disposition',
  storageClass: 'Storage class',
  tags: 'Tags',
  encryption: 'Encryption',
}
