import { expect, it } from 'vitest';
import { daemonEnvironment } from '../../../cli/launchEnvironment.ts';
import { traceSettings } from '../../../inspect/traces/settings.ts';

const here = 'http://127.0.0.1:4318';

it.each([
  ['nothing is set', {}, { state: 'off' }],
  ['tracing is turned off', { OTEL_EXPORTER_OTLP_ENDPOINT: here, OTEL_SDK_DISABLED: 'true' }, { state: 'off' }],
  ['traces have no exporter', { OTEL_EXPORTER_OTLP_ENDPOINT: here, OTEL_TRACES_EXPORTER: 'none' }, { state: 'off' }],
  [
    'a collector is here',
    { OTEL_EXPORTER_OTLP_ENDPOINT: `${here}/` },
    { state: 'on', url: `${here}/v1/traces`, serviceName: 'custody' },
  ],
  [
    'it is by name',
    { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://localhost:4318', OTEL_SERVICE_NAME: 'mine' },
    { state: 'on', serviceName: 'mine' },
  ],
  ['it is over IPv6', { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://[::1]:4318' }, { state: 'on' }],
  [
    'the one for traces is another',
    { OTEL_EXPORTER_OTLP_ENDPOINT: here, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${here}/t` },
    { state: 'on', url: `${here}/t` },
  ],
  ['it is elsewhere', { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://192.0.2.1:4318' }, { state: 'refused' }],
  [
    'its name begins like this machine',
    { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1.example:4318' },
    { state: 'refused' },
  ],
  [
    'it is elsewhere and that is allowed',
    { OTEL_EXPORTER_OTLP_ENDPOINT: 'https://192.0.2.1', CUSTODY_TRACES_REMOTE: 'allow' },
    { state: 'on' },
  ],
  ['it holds a credential', { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://me:secret@127.0.0.1:4318' }, { state: 'refused' }],
  ['it is a file', { OTEL_EXPORTER_OTLP_ENDPOINT: 'file:///tmp/spans' }, { state: 'refused' }],
  ['it is no URL', { OTEL_EXPORTER_OTLP_ENDPOINT: 'collector' }, { state: 'refused' }],
  [
    'it wants another protocol',
    { OTEL_EXPORTER_OTLP_ENDPOINT: here, OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' },
    { state: 'refused' },
  ],
])('where %s', (_, env, settings) => {
  expect(traceSettings(env as Record<string, string>)).toMatchObject(settings);
});

it('reaches a daemon that a command starts, and headers, which may hold a credential, do not', () => {
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: here, OTEL_EXPORTER_OTLP_HEADERS: 'authorization=secret', PATH: '/bin' };
  expect(daemonEnvironment(env)).toEqual({ OTEL_EXPORTER_OTLP_ENDPOINT: here, PATH: '/bin' });
});
