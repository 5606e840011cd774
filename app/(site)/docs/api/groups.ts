import type { Operation } from '#lib/api/operation.ts'
import { OPERATIONS } from '#lib/api/operations.ts'
import { TAGS } from '#lib/api/tags.ts'
import { slugOf } from '../read-markdown.ts'

type Group = { title: string; summary: string; href: string; operations: Operation[] }

/** The pages of the reference: one for each tag of the OpenAPI document. */
export const API_GROUPS: Group[] = [...Map.groupBy(OPERATIONS, ({ tag }) => tag)].map(
  ([title, operations]) => ({ title, summary: TAGS[title]!, href: `/docs/api/${slugOf(title)}`, operations }),
)
