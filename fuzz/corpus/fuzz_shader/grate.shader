a
{
	cull none /* both
	sides */
	surfaceparm trans
	deformVertexes wave 64 sin 0 1 0 1
	{
		map "a b.tga"
		alphaFunc GE128
		depthWrite
	}
	{ map $lightmap blendfunc filter depthFunc equal }
}
textures/a/b { skyParms env/x 512 - fogparms ( 1 0 0 ) 3 { animMap 8 a b c blendFunc add { nested } } }
