import { documentOperation } from './open-api-document.ts'
import type { Operation } from './operation.ts'
import { accountOperations } from './operations/account.ts'
import { batchOperations } from './operations/batches.ts'
import { configurationOperations } from './operations/configuration.ts'
import { dataStoreOperations } from './operations/data-stores.ts'
import { deliveryOperations } from './operations/deliveries.ts'
import { eventOperations } from './operations/events.ts'
import { fileOperations } from './operations/files.ts'
import { hookOperations } from './operations/hooks.ts'
import { importOperations } from './operations/imports.ts'
import { firstOutputOperations, outputOperations } from './operations/outputs.ts'
import { peopleOperations } from './operations/people.ts'
import { pipeOperations } from './operations/pipes.ts'
import { senderGroupOperations } from './operations/sender-groups.ts'
import { senderOperations } from './operations/senders.ts'
import { tokenOperations } from './operations/tokens.ts'
import { uploadLinkOperations } from './operations/upload-links.ts'
import { uploadOperations } from './operations/uploads.ts'

/** Every documented operation in `/api/v1`, in the order of the reference. */
export const DESCRIBED: Operation[] = [
  ...tokenOperations,
  ...uploadOperations,
  ...uploadLinkOperations,
  ...importOperations,
  ...batchOperations,
  ...dataStoreOperations,
  ...pipeOperations,
  ...senderOperations,
  ...senderGroupOperations,
  ...firstOutputOperations,
  ...outputOperations,
  ...hookOperations,
  ...deliveryOperations,
  ...fileOperations,
  ...eventOperations,
  ...accountOperations,
  ...peopleOperations,
  ...configurationOperations,
]

export const OPERATIONS: Operation[] = [...DESCRIBED, documentOperation(DESCRIBED)]
