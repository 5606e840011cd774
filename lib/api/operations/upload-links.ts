import { z } from 'zod'
import { pageAnswer } from '../../platform/db/page.ts'
import { currentRequest } from '../../platform/kernel/request-context.ts'
import {
  checkedHostAnswer,
  checkLinkHost,
  linkHostAnswer,
  linkHostInput,
  readLinkHost,
  saveLinkHost,
} from '../../upload-links/link-host.ts'
import {
  changeLinkPages,
  linkPagesAnswer,
  linkPagesChanges,
  logoInput,
  readLinkPages,
  removeLogo,
  saveLogo,
} from '../../upload-links/link-pages.ts'
import {
  changeUploadLink,
  createUploadLink,
  deleteUploadLink,
  hashingPassword,
  linksQuery,
  listUploadLinks,
} from '../../upload-links/manage-links.ts'
import { openLink, openLinkAnswer, openLinkInput } from '../../upload-links/open-link.ts'
import { receiptInput, sendReceipt } from '../../upload-links/send-receipt.ts'
import {
  findUploadLink,
  toUploadLink,
  uploadLinkAnswer,
  uploadLinkChange,
  uploadLinkInput,
} from '../../upload-links/upload-link.ts'
import { operationsOf } from '../operation.ts'

const { operation, openOperation } = operationsOf('Upload links')

export const uploadLinkOperations = [
  operation('POST /upload-links', {
    id: 'createUploadLink',
    right: 'build',
    summary:
      'Create a link that lets people without an account upload to a Pipe. Only this response contains its code, and its URL, which ends with the code.',
    body: uploadLinkInput,
    status: 201,
    answer: uploadLinkAnswer.extend({ code: z.string(), url: z.url() }),
    problems: ['pipe_not_found', 'rate_limited'],
    prepare: (body) => hashingPassword(body),
    run: ({ runtime, who, body }) => createUploadLink(runtime, who, body),
  }),
  operation('GET /upload-links', {
    id: 'listUploadLinks',
    right: 'see',
    summary: 'List upload links, newest first.',
    query: linksQuery,
    answer: pageAnswer(uploadLinkAnswer),
    run: ({ runtime, who, query }) => listUploadLinks(runtime, who, query),
  }),
  operation('GET /upload-links/{id}', {
    id: 'showUploadLink',
    right: 'see',
    summary: 'Show an upload link.',
    answer: uploadLinkAnswer,
    problems: ['not_found'],
    run: async ({ runtime, who, params }) =>
      toUploadLink(await findUploadLink(runtime.db, who, params.id!), runtime.clock.now()),
  }),
  operation('PATCH /upload-links/{id}', {
    id: 'changeUploadLink',
    right: 'build',
    summary:
      'Change an upload link, or close and reopen it. Uploads in progress continue even if the link is closed.',
    body: uploadLinkChange,
    answer: uploadLinkAnswer,
    problems: ['not_found'],
    prepare: (body) => hashingPassword(body),
    run: ({ runtime, who, params, body }) => changeUploadLink(runtime, who, params.id!, body),
  }),
  operation('DELETE /upload-links/{id}', {
    id: 'deleteUploadLink',
    right: 'build',
    summary: 'Delete an upload link permanently. Its uploads in progress cannot continue.',
    status: 204,
    problems: ['not_found'],
    run: ({ runtime, who, params }) => deleteUploadLink(runtime, who, params.id!),
  }),
  operation('GET /link-pages', {
    id: 'showLinkPages',
    right: 'see',
    summary: "Show how the pages of the workspace's upload links look.",
    answer: linkPagesAnswer,
    run: ({ runtime, who }) => readLinkPages(runtime, who.workspaceId),
  }),
  operation('PATCH /link-pages', {
    id: 'changeLinkPages',
    right: 'administer',
    summary: "Change the name, the color or the text on the pages of the workspace's upload links.",
    body: linkPagesChanges,
    answer: linkPagesAnswer,
    run: ({ runtime, who, body }) => changeLinkPages(runtime, who, body),
  }),
  operation('PUT /link-pages/logo', {
    id: 'saveLogo',
    right: 'administer',
    summary:
      "Show a logo on the pages of the workspace's upload links: a PNG, JPEG or WebP image of at most 100 KiB, in Base64.",
    body: logoInput,
    answer: linkPagesAnswer,
    run: ({ runtime, who, body }) => saveLogo(runtime, who, body),
  }),
  operation('DELETE /link-pages/logo', {
    id: 'removeLogo',
    right: 'administer',
    summary: "Remove the logo from the pages of the workspace's upload links.",
    answer: linkPagesAnswer,
    run: ({ runtime, who }) => removeLogo(runtime, who),
  }),
  operation('GET /link-pages/host', {
    id: 'showLinkHost',
    right: 'see',
    summary:
      "Show the workspace's own host for link pages and their uploads, and the DNS records that it needs.",
    answer: linkHostAnswer,
    run: ({ runtime, who }) => readLinkHost(runtime, who.workspaceId),
  }),
  operation('POST /link-pages/host/check', {
    id: 'checkLinkHost',
    right: 'administer',
    summary:
      'Look for the DNS records of the host. Once they are found, new upload links and their uploads use it.',
    answer: checkedHostAnswer,
    problems: ['rate_limited'],
    network: true,
    run: ({ runtime, who }) => checkLinkHost(runtime, who),
  }),
  operation('PUT /link-pages/host', {
    id: 'saveLinkHost',
    right: 'administer',
    summary:
      'Set the host for link pages and their uploads, which then has to be checked, or remove it with null.',
    body: linkHostInput,
    answer: linkHostAnswer,
    run: ({ runtime, who, body }) => saveLinkHost(runtime, who, body),
  }),
  openOperation('POST /upload-links/open', {
    id: 'openUploadLink',
    summary:
      'Open an upload link by its code. Returns its message, and an upload token if it accepts uploads from this visitor.',
    body: openLinkInput,
    answer: openLinkAnswer,
    problems: ['not_found', 'forbidden', 'rate_limited'],
    run: ({ runtime, body }) => openLink(runtime, body, currentRequest()?.client ?? ''),
  }),
  openOperation('POST /upload-links/open/receipt', {
    id: 'sendReceipt',
    summary:
      "Email a receipt that lists a visitor's files that have arrived, if the upload link sends receipts.",
    body: receiptInput,
    status: 204,
    problems: ['not_found', 'forbidden', 'rate_limited'],
    run: ({ runtime, body }) => sendReceipt(runtime, body, currentRequest()?.client ?? ''),
  }),
]
