import type { FileObject, ObjectSettings } from '#drizzle/schema/index.ts'

/** Which object settings a blob can have. The settings are those of S3, because Pipes write to several providers. */

/** Access tiers, in place of S3's storage classes. */
export const TIERS: Record<string, string> = { HOT: 'Hot', COOL: 'Cool', COLD: 'Cold', ARCHIVE: 'Archive' }

/** https://learn.microsoft.com/rest/api/storageservices/set-blob-tags */
export const TAG_CHARACTERS = 'A-Za-z0-9 +./:=_-'
const TAG_NAME = new RegExp(`^[${TAG_CHARACTERS}]+$`)
/** Names follow the rules for C# identifiers: https://learn.microsoft.com/rest/api/storageservices/naming-and-referencing-containers--blobs--and-metadata */
const METADATA_NAME = /^[a-z_][a-z0-9_]*$/

export type Objection = { setting: keyof ObjectSettings; message: string }

/** The setting that Azure would refuse, and what to use instead. Undefined if a blob can have all of them. */
export function objectionToBlob(object: FileObject | ObjectSettings): Objection | undefined {
  const { metadata = {}, tags = {}, storageClass, encryption } = object
  const name = Object.keys(metadata).find((one) => !METADATA_NAME.test(one))
  if (name)
    return {
      setting: 'metadata',
      message: `has the name ${name}, but in Azure Blob Storage, names consist of letters, digits and _, and do not start with a digit`,
    }
  const tag = Object.keys(tags).find((one) => !TAG_NAME.test(one))
  if (tag)
    return {
      setting: 'tags',
      message: `has the name ${tag}, but in Azure Blob Storage, names consist of letters from A to Z, digits, spaces and + - . / : = _`,
    }
  if (storageClass && !(storageClass in TIERS))
    return {
      setting: 'storageClass',
      message: `is ${storageClass}, but Azure Blob Storage has the access tiers ${Object.keys(TIERS).join(', ')}`,
    }
  if (encryption?.type === 'SSE-KMS')
    return {
      setting: 'encryption',
      message: 'names a key, but in Azure Blob Storage, keys are set for a container or an account',
    }
  return undefined
}
