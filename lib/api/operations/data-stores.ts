import { pageAnswer, pageQuery } from '../../platform/db/page.ts'
import { checkDataStore, checkSavedDataStore } from '../../workspace/data-stores/check-data-store.ts'
import { createDataStore } from '../../workspace/data-stores/create-data-store.ts'
import { dataStoreAnswer, dataStoreChanges, dataStoreInput } from '../../workspace/data-stores/data-store.ts'
import { deleteDataStore } from '../../workspace/data-stores/delete-data-store.ts'
import { listDataStores, showDataStore } from '../../workspace/data-stores/read-data-stores.ts'
import { updateDataStore } from '../../workspace/data-stores/update-data-store.ts'
import { operationsOf } from '../operation.ts'

const { operation } = operationsOf('Data Stores')

export const dataStoreOperations = [
  operation('POST /data-stores', {
    id: 'createDataStore',
    right: 'administer',
    summary: 'Connect a bucket and check it.',
    body: dataStoreInput,
    status: 201,
    answer: dataStoreAnswer,
    problems: ['rate_limited'],
    run: ({ runtime, who, body }) => createDataStore(runtime, who, body),
    after: ({ runtime, who }, made) => checkSavedDataStore(runtime, who, made),
  }),
  operation('GET /data-stores', {
    id: 'listDataStores',
    right: 'see',
    summary: 'List Data Stores, newest first.',
    query: pageQuery,
    answer: pageAnswer(dataStoreAnswer),
    run: ({ runtime, who, query }) => listDataStores(runtime, who, query),
  }),
  operation('GET /data-stores/{id}', {
    id: 'showDataStore',
    right: 'see',
    summary: 'Show a Data Store.',
    answer: dataStoreAnswer,
    problems: ['not_found'],
    run: ({ runtime, who, params }) => showDataStore(runtime, who, params.id!),
  }),
  operation('PATCH /data-stores/{id}', {
    id: 'updateDataStore',
    right: 'administer',
    summary:
      'Change a Data Store and check it. Its location cannot change while uploads to it are in progress.',
    body: dataStoreChanges,
    answer: dataStoreAnswer,
    problems: ['not_found', 'conflict'],
    run: ({ runtime, who, params, body }) => updateDataStore(runtime, who, params.id!, body),
    after: ({ runtime, who }, changed) =>
      changed.check ? Promise.resolve(changed) : checkSavedDataStore(runtime, who, changed),
  }),
  operation('POST /data-stores/{id}/check', {
    id: 'checkDataStore',
    right: 'operate',
    summary: 'Test each operation on the bucket, and report what to change.',
    answer: dataStoreAnswer,
    problems: ['not_found', 'conflict', 'rate_limited'],
    network: true,
    run: ({ runtime, who, params }) => checkDataStore(runtime, who, params.id!),
  }),
  operation('DELETE /data-stores/{id}', {
    id: 'deleteDataStore',
    right: 'administer',
    summary: 'Delete a Data Store that no Pipe uses. The bucket and its objects stay.',
    status: 204,
    problems: ['not_found', 'conflict'],
    run: ({ runtime, who, params }) => deleteDataStore(runtime, who, params.id!),
  }),
]
