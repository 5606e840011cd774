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
import { operation } from '../operation.ts'

const tag = 'Configuration'

export const configurationOperations = [
  operation({
    id: 'showWorkspace',
    right: 'see',
    method: 'GET',
    path: '/workspace',
    tag,
    summary: 'Show the workspace of the key: its name, and whether its members need a second factor.',
    status: 200,
    answer: workspaceAnswer,
    run: ({ runtime, who }) => showWorkspace(runtime, who),
  }),
  operation({
    id: 'changeWorkspace',
    right: 'administer',
    method: 'PATCH',
    path: '/workspace',
    tag,
    summary:
      'Rename the workspace, or require a second factor of its members. Only an owner can stop requiring it, in the dashboard.',
    body: workspaceChanges,
    status: 200,
    answer: workspaceAnswer,
    run: ({ runtime, who, body }) => changeWorkspace(runtime, who, body),
  }),
  operation({
    id: 'showAlertSettings',
    right: 'see',
    method: 'GET',
    path: '/alert-settings',
    tag,
    summary: 'Show which alerts the members get by mail and as notices.',
    status: 200,
    answer: alertSettingsAnswer,
    run: ({ runtime, who }) => readAlertSettings(runtime, who),
  }),
  operation({
    id: 'changeAlertSettings',
    right: 'build',
    method: 'PATCH',
    path: '/alert-settings',
    tag,
    summary: 'Change which alerts the members get. What is left out stays as it is.',
    body: alertSettingsChanges,
    status: 200,
    answer: alertSettingsAnswer,
    run: ({ runtime, who, body }) => changeAlertSettings(runtime, who, body),
  }),
  operation({
    id: 'lockConfiguration',
    right: 'build',
    method: 'PUT',
    path: '/configuration-lock',
    tag,
    summary:
      'Take or renew the lock that `sluice apply` holds while it changes a workspace. It ends a minute after its last renewal.',
    body: configurationLockInput,
    status: 200,
    answer: configurationLockAnswer,
    problems: ['conflict'],
    run: ({ runtime, who, body }) => lockConfiguration(runtime, who, body),
  }),
  operation({
    id: 'unlockConfiguration',
    right: 'build',
    method: 'POST',
    path: '/configuration-lock/release',
    tag,
    summary: 'Release the lock before it ends by itself.',
    body: configurationLockInput,
    status: 204,
    problems: ['conflict'],
    run: ({ runtime, who, body }) => unlockConfiguration(runtime, who, body),
  }),
]
