import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bucketContract } from '../../../e2e/bucket-contract/bucket-contract.ts'
import { ALL_ACTIONS } from '../key-ring.ts'
import { startLocalBucket } from '../start.ts'

const keys = { accessKeyId: 'READER', secretAccessKey: 'reader-secret' }
const putOnlyKeys = { accessKeyId: 'WRITER', secretAccessKey: 'writer-secret' }

bucketContract(
  'the local bucket',
  async () => {
    const directory = await mkdtemp(join(tmpdir(), 'local-bucket-'))
    const region = 'eu-central-1'
    const { endpoint, close } = await startLocalBucket({
      directory,
      region,
      buckets: ['demo'],
      keys: [
        { ...keys, actions: ALL_ACTIONS },
        { ...putOnlyKeys, actions: ['s3:PutObject'] },
      ],
    })
    return {
      endpoint,
      region,
      bucket: 'demo',
      keys,
      putOnlyKeys,
      close: async () => {
        await close()
        await rm(directory, { recursive: true })
      },
    }
  },
  { cannot: ['keeps an object next to others whose keys start with its key'] },
)
