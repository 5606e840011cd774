import {
  changeWorkspace,
  showWorkspace,
  workspaceAnswer,
  workspaceChanges,
} from '../../identity/workspaces/workspaces.ts'
import {
  configurationLockAnswer,
  configurationLockInput,
  lockConfiguration,
  unlockConfiguration,
} from '../../workspace/configuration-lock.ts'
import {
  alertSettingsAnswer,
  alertSettingsChanges,
  changeAlertSettings,
  readAlertSettings,
} from '../../workspace/notices/alerts.ts'
import { operationsOf } from '../operation.ts'

const { operation } = operationsOf('Configuration')

export const configurationOperations = [
  operation('GET /workspace', {
    id: 'showWorkspace',
    right: 'see',
    summary: "Show the key's workspace: its name, and whether its members need a second factor.",
    answer: workspaceAnswer,
    run: ({ runtime, who }) => showWorkspace(runtime, who),
  }),
  operation('PATCH /workspace', {
    id: 'changeWorkspace',
    right: 'administer',
    summary:
      'Rename the workspace, or require its members to use a second factor. Only an owner can lift this requirement, and only in the dashboard.',
    body: workspaceChanges,
    answer: workspaceAnswer,
    run: ({ runtime, who, body }) => changeWorkspace(runtime, who, body),
  }),
  operation('GET /alert-settings', {
    id: 'showAlertSettings',
    right: 'see',
    summary: 'Show which alerts members receive by email and as notices.',
    answer: alertSettingsAnswer,
    run: ({ runtime, who }) => readAlertSettings(runtime, who),
  }),
  operation('PATCH /alert-settings', {
    id: 'changeAlertSettings',
    right: 'build',
    summary: 'Change which alerts members receive. Omitted alerts stay unchanged.',
    body: alertSettingsChanges,
    answer: alertSettingsAnswer,
    run: ({ runtime, who, body }) => changeAlertSettings(runtime, who, body),
  }),
  operation('PUT /configuration-lock', {
    id: 'lockConfiguration',
    right: 'build',
    summary:
      'Acquire or renew the lock that `sluice apply` holds while it changes a workspace. It expires a minute after its last renewal.',
    body: configurationLockInput,
    answer: configurationLockAnswer,
    problems: ['conflict'],
    run: ({ runtime, who, body }) => lockConfiguration(runtime, who, body),
  }),
  operation('POST /configuration-lock/release', {
    id: 'unlockConfiguration',
    right: 'build',
    summary: 'Release the lock before it expires.',
    body: configurationLockInput,
    status: 204,
    problems: ['conflict'],
    run: ({ runtime, who, body }) => unlockConfiguration(runtime, who, body),
  }),
]
