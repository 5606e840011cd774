import type { z } from 'zod'
import type { Actor } from '../identity/audit/record-audit.ts'
import type { Right } from '../identity/rights.ts'
import type { ErrorCode } from '../platform/kernel/errors.ts'
import type { Runtime } from '../platform/runtime.ts'
import type { ApiRequest } from './answer-request.ts'

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

type Call<Query, Body, Who> = {
  runtime: Runtime
  who: Who
  /** From the path, as they came: the verbs judge them. */
  params: Record<string, string>
  query: Query
  body: Body
  asked: ApiRequest
}

type Schema = z.ZodType

/** An error that it may answer with, where needed with a status that is not the code's usual one. */
export type Problem = ErrorCode | { code: ErrorCode; status: number }

/**
 * One row of the API. Routes, `openapi.json` and the test that calls every operation are all made from these
 * rows, so the three cannot disagree. A row holds no rule: it parses, calls a verb, and answers.
 */
export type Operation<Query = unknown, Body = unknown, Answer = unknown, Who = unknown> = {
  id: string
  method: Method
  /** Below `/api/v1`, with `{name}` for what varies. */
  path: string
  tag: string
  summary: string
  /** `actor`: an `ak_` key, for its workspace. `sender`: the `sk_` token itself. `nobody`: open. */
  auth: 'actor' | 'sender' | 'nobody'
  /** What an actor must be allowed to do. */
  right?: Right
  query?: Schema
  body?: Schema
  status: 200 | 201 | 202 | 204
  answer?: Schema
  /** How long the body may be, where 64 KiB do not suffice. */
  bodyBytes?: number
  /** Of a Sender: the same request with the same Idempotency-Key gets the first answer. For actors, every POST does. */
  once?: boolean
  /** Beside those that every operation of its kind has. */
  problems?: Problem[]
  /** It answers with server-sent events, for as long as somebody listens. */
  stream?: boolean
  /** It goes out to the network, so it runs in no transaction. */
  network?: boolean
  run(call: Call<Query, Body, Who>): Promise<Answer>
  /** What goes out to the network once `run` is committed; its answer stands in for that of `run`. */
  after?(call: Call<Query, Body, Who>, answer: Answer): Promise<Answer>
}

/** It honours Idempotency-Key. */
export function isOnce({ method, auth, once }: Operation): boolean {
  return method === 'POST' && (auth === 'actor' || once === true)
}

type Parsed<S extends Schema | undefined> = S extends Schema ? z.output<S> : undefined
type TypedCall<Q extends Schema | undefined, B extends Schema | undefined, Who> = Call<
  Parsed<Q>,
  Parsed<B>,
  Who
>
type TypedAnswer<A extends Schema | undefined> = A extends Schema ? z.input<A> : unknown

type Typed<
  Q extends Schema | undefined,
  B extends Schema | undefined,
  A extends Schema | undefined,
  Who,
> = Partial<
  Omit<Operation, 'id' | 'summary' | 'auth' | 'right' | 'query' | 'body' | 'answer' | 'run' | 'after'>
> & {
  id: string
  summary: string
  query?: Q
  body?: B
  answer?: A
  run(call: TypedCall<Q, B, Who>): Promise<TypedAnswer<A>>
  after?(call: TypedCall<Q, B, Who>, answer: TypedAnswer<A>): Promise<TypedAnswer<A>>
}

type Address = `${Method} /${string}`

/** What makes the operations of one chapter of the reference: `operation('GET /pipes/{id}', { … })`. Its status is 200 unless it says otherwise. */
export function operationsOf(tag: string) {
  const complete = (auth: Operation['auth'], address: Address, row: object) => {
    const [method, path] = address.split(' ')
    return { status: 200, ...row, tag, method, path, auth } as unknown as Operation
  }
  return {
    /** Of the management API. */
    operation: <
      Q extends Schema | undefined = undefined,
      B extends Schema | undefined = undefined,
      A extends Schema | undefined = undefined,
    >(
      address: Address,
      row: Typed<Q, B, A, Actor> & { right: Right },
    ) => complete('actor', address, row),
    /** That a customer's backend calls with a Sender's token. */
    senderOperation: <
      Q extends Schema | undefined = undefined,
      B extends Schema | undefined = undefined,
      A extends Schema | undefined = undefined,
    >(
      address: Address,
      row: Typed<Q, B, A, string>,
    ) => complete('sender', address, row),
    /** That anybody may call, without a key. */
    openOperation: <
      Q extends Schema | undefined = undefined,
      B extends Schema | undefined = undefined,
      A extends Schema | undefined = undefined,
    >(
      address: Address,
      row: Typed<Q, B, A, undefined>,
    ) => complete('nobody', address, row),
  }
}
