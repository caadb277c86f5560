/** A row of figures as a small picture: bars from a common floor, the greatest as high as the picture. */

export interface SparklineProps {
  readonly values: readonly number[];
  /** What the picture says, for who cannot see it. */
  readonly label: string;
}

const width = 3;
const height = 18;

export function Sparkline({ values, label }: SparklineProps) {
  const most = Math.max(1, ...values);
  return (
    <svg
      class="sparkline"
      role="img"
      aria-label={label}
      viewBox={`0 0 ${values.length * width} ${height}`}
      width={values.length * width}
      height={height}
    >
      {values.map((value, index) => {
        const tall = value === 0 ? 1 : Math.max(2, (value / most) * height);
        return <rect key={index} x={index * width} y={height - tall} width={width - 1} height={tall} />;
      })}
    </svg>
  );
}
