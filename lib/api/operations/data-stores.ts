import { pageAnswer, pageQuery } from '../../platform/db/page.ts'
import { checkDataStore, checkSavedDataStore } from '../../workspace/data-stores/check-data-store.ts'
import { createDataStore } from '../../workspace/data-stores/create-data-store.ts'
import { dataStoreAnswer, dataStoreChanges, dataStoreInput } from '../../workspace/data-stores/data-store.ts'
import { deleteDataStore } from '../../workspace/data-stores/delete-data-store.ts'
import { listDataStores, showDataStore } from '../../workspace/data-stores/read-data-stores.ts'
import { updateDataStore } from '../../workspace/data-stores/update-data-store.ts'
import { operation } from '../operation.ts'

const tag = 'Data Stores'

export const dataStoreOperations = [
  operation({
    id: 'createDataStore',
    right: 'administer',
    method: 'POST',
    path: '/data-stores',
    tag,
    summary: 'Connect a bucket, and check it.',
    body: dataStoreInput,
    status: 201,
    answer: dataStoreAnswer,
    problems: ['rate_limited'],
    run: ({ runtime, who, body }) => createDataStore(runtime, who, body),
    after: ({ runtime, who }, made) => checkSavedDataStore(runtime, who, made),
  }),
  operation({
    id: 'listDataStores',
    right: 'see',
    method: 'GET',
    path: '/data-stores',
    tag,
    summary: 'List Data Stores, newest first.',
    query: pageQuery,
    status: 200,
    answer: pageAnswer(dataStoreAnswer),
    run: ({ runtime, who, query }) => listDataStores(runtime, who, query),
  }),
  operation({
    id: 'showDataStore',
    right: 'see',
    method: 'GET',
    path: '/data-stores/{id}',
    tag,
    summary: 'Show a Data Store.',
    status: 200,
    answer: dataStoreAnswer,
    problems: ['not_found'],
    run: ({ runtime, who, params }) => showDataStore(runtime, who, params.id!),
  }),
  operation({
    id: 'updateDataStore',
    right: 'administer',
    method: 'PATCH',
    path: '/data-stores/{id}',
    tag,
    summary: 'Change a Data Store, and check it. Its place cannot change while uploads to it are under way.',
    body: dataStoreChanges,
    status: 200,
    answer: dataStoreAnswer,
    problems: ['not_found', 'conflict'],
    run: ({ runtime, who, params, body }) => updateDataStore(runtime, who, params.id!, body),
    after: ({ runtime, who }, changed) =>
      changed.check ? Promise.resolve(changed) : checkSavedDataStore(runtime, who, changed),
  }),
  operation({
    id: 'checkDataStore',
    right: 'operate',
    method: 'POST',
    path: '/data-stores/{id}/check',
    tag,
    summary: 'Try each operation on the bucket, and say what to change.',
    status: 200,
    answer: dataStoreAnswer,
    problems: ['not_found', 'conflict', 'rate_limited'],
    network: true,
    run: ({ runtime, who, params }) => checkDataStore(runtime, who, params.id!),
  }),
  operation({
    id: 'deleteDataStore',
    right: 'administer',
    method: 'DELETE',
    path: '/data-stores/{id}',
    tag,
    summary: 'Delete a Data Store that no Pipe uses. The bucket and its objects stay.',
    status: 204,
    problems: ['not_found', 'conflict'],
    run: ({ runtime, who, params }) => deleteDataStore(runtime, who, params.id!),
  }),
]
