import { xmlAnswer } from '../answer.ts'
import type { Perform } from '../call.ts'
import { missingKey } from '../missing-key.ts'
import { tagsOf } from '../stored-headers.ts'
import type { XmlElement } from '../xml.ts'

export const getObjectTagging: Perform = async (call) => {
  const metadata = await call.storage.objects.find(call.request.key)
  if (!metadata) throw missingKey(call)
  const elements = tagsOf(metadata.headers).map(
    ([key, value]): XmlElement => [
      'Tag',
      [
        ['Key', key],
        ['Value', value],
      ],
    ],
  )
  return xmlAnswer(['Tagging', [['TagSet', elements]]])
}
