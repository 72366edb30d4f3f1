// What graph.js uses of dagre.js; read by `make lint` alone.
type Point = { x: number; y: number };

export class Graph {
  setGraph(options: Record<string, string | number>): void;
  setDefaultEdgeLabel(label: () => object): void;
  setNode(id: string, size: { width: number; height: number }): void;
  setEdge(from: string, to: string): void;
  graph(): { width: number; height: number };
  node(id: string): Point;
  edge(from: string, to: string): { points: Point[] };
}
export function layout(graph: Graph): void;
