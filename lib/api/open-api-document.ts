import { z } from 'zod'
import { HOOKS, type Hook } from '#drizzle/schema/hooks.ts'
import { EVENT_KINDS, type EventKind } from '#drizzle/schema/pipes.ts'
import { eventSchema } from '../events/event-schemas.ts'
import { ANSWER_SCHEMAS, questionSchema } from '../hooks/question-schemas.ts'
import { type ErrorCode, errorCodes, SluiceError } from '../platform/kernel/errors.ts'
import { isOnce, type Operation, type Problem } from './operation.ts'
import { TAGS } from './tags.ts'

/** OpenAPI 3.1, generated from the same schemas that validate requests. */
type Json = Record<string, unknown>

export function openApiDocument(operations: Operation[], baseUrl: string): Json {
  const paths: Record<string, Json> = {}
  for (const operation of operations) {
    paths[operation.path] = {
      ...paths[operation.path],
      [operation.method.toLowerCase()]: describe(operation, operations),
    }
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Sluice', version: '1', description: DESCRIPTION },
    servers: [{ url: `${baseUrl}/api/v1` }],
    tags: [...new Set(operations.map(({ tag }) => tag))].map((name) => ({ name, description: TAGS[name] })),
    paths,
    webhooks: Object.fromEntries([
      ...EVENT_KINDS.map((kind) => [camelCase(kind), webhookOf(kind)]),
      ...HOOKS.map((hook) => [camelCase(hook), hookOf(hook)]),
    ]),
    components: {
      securitySchemes: {
        accountKey: { type: 'http', scheme: 'bearer', description: 'An account key, ak_…' },
        senderToken: { type: 'http', scheme: 'bearer', description: "A Sender's token, sk_…" },
      },
      schemas: {
        Problem: PROBLEM,
        ErrorCode: {
          type: 'string',
          enum: Object.keys(errorCodes),
          description: 'The error codes in this version',
        },
        ...Object.fromEntries(
          EVENT_KINDS.map((kind) => [pascalCase(kind), requestSchema(eventSchema(kind))]),
        ),
        ...Object.fromEntries(HOOKS.flatMap(hookSchemas)),
      },
    },
  }
}

const WHEN: Record<EventKind, string> = {
  'file.status_changed': 'A file arrived or failed.',
  'file.created': 'An upload has started. Like all events below, only sent to outputs that subscribe to it.',
  'batch.completed': 'A batch is sealed and all its files have ended.',
  'data_store.failing': 'A bucket has rejected uploads for a minute.',
  'data_store.recovered': 'The bucket accepts uploads again.',
  'output.turned_off': 'Sluice turned off a webhook output.',
  'usage.threshold': '80 or 100 percent of the monthly transfer quota is used. For workspace outputs only.',
}

const webhookOf = (kind: EventKind) => ({
  post: {
    summary: `${WHEN[kind]} The request is signed. Any 2xx response within 15 seconds confirms receipt.`,
    requestBody: { required: true, content: content(pascalCase(kind)) },
    responses: { '200': { description: 'Received' } },
  },
})

const content = (schema: string) => ({
  'application/json': { schema: { $ref: `#/components/schemas/${schema}` } },
})

const hookOf = (hook: Hook) => ({
  post: {
    summary: "A decision hook's question, signed like an event. The response contains the decision.",
    requestBody: { required: true, content: content(`${pascalCase(hook)}Question`) },
    responses: { '200': { description: 'The decision', content: content(`${pascalCase(hook)}Answer`) } },
  },
})

const hookSchemas = (hook: Hook) => [
  [`${pascalCase(hook)}Question`, requestSchema(questionSchema(hook))],
  [`${pascalCase(hook)}Answer`, requestSchema(ANSWER_SCHEMAS[hook])],
]

const pascalCase = (kind: EventKind | Hook) =>
  kind.replace(/(?:^|[._])([a-z])/g, (_, letter: string) => letter.toUpperCase())
const camelCase = (kind: EventKind | Hook) =>
  kind.replace(/[._]([a-z])/g, (_, letter: string) => letter.toUpperCase())

const DESCRIPTION = 'Resumable uploads into your bucket. Ignore unknown fields, since version 1 may add more.'

/** RFC 9457. */
const PROBLEM = {
  type: 'object',
  required: ['type', 'title', 'status', 'detail', 'code'],
  properties: {
    type: { type: 'string', format: 'uri' },
    title: { type: 'string' },
    status: { type: 'integer' },
    detail: { type: 'string', description: 'What went wrong, and what to do' },
    code: { type: 'string', description: "Stable; use it in your program's logic" },
    errors: {
      type: 'array',
      items: {
        type: 'object',
        required: ['field', 'message'],
        properties: { field: { type: 'string' }, message: { type: 'string' } },
      },
    },
  },
}

const SECURITY = { actor: [{ accountKey: [] }], sender: [{ senderToken: [] }], nobody: [] }

function describe(operation: Operation, all: Operation[]): Json {
  const { id, tag, summary, auth, body } = operation
  const parameters = [...pathParameters(operation), ...queryParameters(operation), ...idempotency(operation)]
  return {
    operationId: id,
    tags: [tag],
    summary,
    security: SECURITY[auth],
    ...(parameters.length > 0 && { parameters }),
    ...(body && {
      requestBody: {
        required: !body.safeParse({}).success,
        content: { 'application/json': { schema: requestSchema(body) } },
      },
    }),
    responses: { ...success(operation, linksOf(operation, all)), ...problems(operation) },
  }
}

function requestSchema(schema: z.ZodType): Json {
  const { $schema: _, ...json } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' })
  return json
}

/** Fields may be added to responses, so their schemas allow additional properties. */
function answerSchema(schema: z.ZodType): Json {
  const { $schema: _, ...json } = z.toJSONSchema(schema, {
    io: 'output',
    override: ({ jsonSchema }) => {
      if (jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties
    },
  })
  return json
}

function pathParameters({ path }: Operation): Json[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }))
}

function queryParameters({ query }: Operation): Json[] {
  if (!query) return []
  const { properties = {}, required = [] } = requestSchema(query) as {
    properties?: Record<string, Json>
    required?: string[]
  }
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    in: 'query',
    required: required.includes(name),
    schema,
  }))
}

function idempotency(operation: Operation): Json[] {
  if (!isOnce(operation)) return []
  const description =
    'Sending the same request with the same key again within a day returns the first response and changes nothing.'
  return [{ name: 'Idempotency-Key', in: 'header', description, schema: { type: 'string', maxLength: 255 } }]
}

function success({ status, answer, stream }: Operation, links: Links): Json {
  const type = stream ? 'text/event-stream' : 'application/json'
  const content = answer && { [type]: { schema: answerSchema(answer) } }
  const linked = Object.keys(links).length > 0
  return {
    [status]: { description: STATUS_WORDS[status], ...(content && { content }), ...(linked && { links }) },
  }
}

const STATUS_WORDS = { 200: 'Done', 201: 'Created', 202: 'Accepted', 204: 'Done' }

function problems(operation: Operation): Json {
  const byStatus = Map.groupBy(
    [
      ...COMMON[operation.auth],
      ...ofRight(operation),
      ...ofInput(operation),
      ...(operation.problems ?? []),
    ].map(withStatus),
    ({ status }) => status,
  )
  const entries = [...byStatus].map(([status, codes]) => [
    status,
    {
      description: codes.map(({ code }) => `\`${code}\``).join(', '),
      content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
    },
  ])
  return Object.fromEntries(entries)
}

const COMMON: Record<Operation['auth'], Problem[]> = {
  actor: ['account_key_missing', 'account_key_invalid', 'unavailable'],
  sender: ['token_missing', 'token_invalid', 'token_revoked', 'unavailable'],
  nobody: ['unavailable'],
}

/** The right `see` is never refused, because every role and key scope has it. */
function ofRight({ right }: Operation): Problem[] {
  return right === undefined || right === 'see' ? [] : ['forbidden']
}

function ofInput(operation: Operation): Problem[] {
  const { body, query, method } = operation
  const codes: ErrorCode[] = []
  if (body) codes.push('invalid_json', 'body_too_large', 'unsupported_media_type')
  if (body || query || method === 'POST') codes.push('invalid_request')
  if (isOnce(operation)) codes.push('conflict')
  return codes
}

const withStatus = (problem: Problem): { code: ErrorCode; status: number } =>
  typeof problem === 'string' ? { code: problem, status: new SluiceError(problem).status } : problem

/** OpenAPI links, from the ids in a response to the operations that accept them. */
type Links = Record<string, { operationId: string; parameters: { id: string }; description: string }>

/** Fields that identify another resource. `id` identifies the resource in the response. */
const NAMED: Record<string, string> = {
  pipeId: '/pipes/{id}',
  dataStoreId: '/data-stores/{id}',
  fileId: '/files/{id}',
  senderId: '/senders/{id}',
}

function linksOf(operation: Operation, all: Operation[]): Links {
  if (!(operation.answer instanceof z.ZodObject)) return {}
  const fields = Object.keys(operation.answer.shape)
  const own = operation.path.split('/{id}')[0]
  const below = all.filter(({ path }) => fields.includes('id') && path.startsWith(`${own}/{id}`))
  const named = fields.flatMap((field) =>
    all
      .filter(({ path, method }) => method === 'GET' && path === NAMED[field])
      .map((to) => [to, field] as const),
  )
  return Object.fromEntries(
    [...below.map((to) => [to, 'id'] as const), ...named]
      .filter(([to]) => to.id !== operation.id)
      .map(([{ id, summary }, field]) => [
        id,
        { operationId: id, parameters: { id: `$response.body#/${field}` }, description: summary },
      ]),
  )
}

/** The operation that returns the description of all others. It requires no key. */
export function documentOperation(described: Operation[]): Operation {
  return {
    id: 'openApi',
    method: 'GET',
    path: '/openapi.json',
    tag: 'Document',
    summary: 'This document.',
    auth: 'nobody',
    status: 200,
    answer: z.record(z.string(), z.unknown()),
    run: async ({ runtime }) => openApiDocument(described, runtime.config.baseUrl),
  }
}
