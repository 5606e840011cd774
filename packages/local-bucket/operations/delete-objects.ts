import { xmlAnswer } from '../answer.ts'
import type { Perform } from '../call.ts'
import { S3Error } from '../s3-error.ts'
import type { XmlElement } from '../xml.ts'
import { childText, readXml } from '../xml-reader.ts'

const MAX_XML_BYTES = 2 ** 20
const MAX_KEYS = 1000

export const deleteObjects: Perform = async ({ body, storage }) => {
  const { keys, quiet } = readKeys(await body.text(MAX_XML_BYTES))
  for (const key of keys) await storage.objects.remove(key)
  const deleted = keys.map((key): XmlElement => ['Deleted', [['Key', key]]])
  return xmlAnswer(['DeleteResult', quiet ? [] : deleted])
}

function readKeys(body: string): { keys: string[]; quiet: boolean } {
  const root = readXml(body)
  const objects = root.children.filter(({ name }) => name === 'Object')
  if (root.name !== 'Delete' || objects.length === 0 || objects.length > MAX_KEYS)
    throw new S3Error('MalformedXML')
  const keys = objects.map((object) => {
    if (childText(object, 'VersionId')) throw new S3Error('NotImplemented', 'This bucket keeps no versions.')
    return childText(object, 'Key') || malformed()
  })
  return { keys, quiet: childText(root, 'Quiet') === 'true' }
}

function malformed(): never {
  throw new S3Error('MalformedXML')
}
