/** Whether and where spans are sent: the standard variables of OpenTelemetry, and nowhere off this machine unless that is allowed. */

type Environment = Readonly<Record<string, string | undefined>>;

export const remoteVariable = 'CUSTODY_TRACES_REMOTE';

/** What of them a daemon may find in its environment; headers could hold a credential, so they are none of these. */
export const traceVariables: ReadonlySet<string> = new Set([
  'OTEL_SDK_DISABLED',
  'OTEL_SERVICE_NAME',
  'OTEL_TRACES_EXPORTER',
  'OTEL_EXPORTER_OTLP_ENDPOINT',
  'OTEL_EXPORTER_OTLP_PROTOCOL',
  'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT',
  'OTEL_EXPORTER_OTLP_TRACES_PROTOCOL',
]);

export type TraceSettings =
  | { readonly state: 'off' }
  | { readonly state: 'refused'; readonly why: string }
  | { readonly state: 'on'; readonly url: string; readonly serviceName: string };

export function traceSettings(env: Environment): TraceSettings {
  const url = urlOf(env);
  if (url === undefined || env.OTEL_SDK_DISABLED === 'true' || env.OTEL_TRACES_EXPORTER === 'none')
    return { state: 'off' };
  const protocol = env.OTEL_EXPORTER_OTLP_TRACES_PROTOCOL || env.OTEL_EXPORTER_OTLP_PROTOCOL || 'http/json';
  if (protocol !== 'http/json') return { state: 'refused', why: 'only the protocol http/json is spoken' };
  if (!URL.canParse(url)) return { state: 'refused', why: 'the endpoint is no URL' };
  const { protocol: scheme, hostname, username, password } = new URL(url);
  if (scheme !== 'http:' && scheme !== 'https:')
    return { state: 'refused', why: 'the endpoint is neither http nor https' };
  if (username !== '' || password !== '') return { state: 'refused', why: 'the endpoint holds a credential' };
  if (!isLoopback(hostname) && env[remoteVariable] !== 'allow')
    return { state: 'refused', why: `the endpoint is not on this machine; ${remoteVariable}=allow would permit that` };
  return { state: 'on', url, serviceName: env.OTEL_SERVICE_NAME || 'custody' };
}

/** The one for traces is taken as it is; below the general one they have their place. */
function urlOf(env: Environment): string | undefined {
  const own = env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT;
  if (own) return own;
  const base = env.OTEL_EXPORTER_OTLP_ENDPOINT;
  return base ? `${base.replace(/\/+$/, '')}/v1/traces` : undefined;
}

/** Names but `localhost` are none: they mean what somebody else says. */
const isLoopback = (hostname: string): boolean =>
  hostname === 'localhost' || hostname === '[::1]' || /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(hostname);
